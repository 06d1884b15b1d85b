# The sine of CosSinShiftRounded for a reach*invFreq = R below 1, in units of R: of the
# exact angle, and d = R*part. In the usual model of rounding, without underflow.

RoundedMargin = 0x1p-41;

sinA = UNITA + errorA;
c1 = COSA + errorC1;
S = UNITA*(1 - lessCos) + COSA*part*(1 - lessSin);
m = RoundedMargin*(1 + e0);
x = (sinA + part*c1)*(1 + e1);
xUpper = (x + m)*(1 + e2);
xLower = (x - m)*(1 + e3);

{
  |UNITA| <= 1 /\ |COSA| <= 1 /\ |part| <= 0x1.01p-24 /\ |errorC1| <= 0x1p-24 /\
  lessCos in [0, 0x1.1p-49] /\ lessSin in [0, 0x1.1p-49] /\
  # smallshift.g
  |errorA| <= 0x1.2ap-50 /\
  |e0| <= 0x1.0p-50 /\ |e1| <= 0x1.0p-53 /\ |e2| <= 0x1.0p-53 /\ |e3| <= 0x1.0p-53
->
  |x - S| <= 0x1p-46 /\
  xUpper - S >= 1b-42 /\ xLower - S <= -1b-42
}

x - S -> errorA + part*errorC1 + UNITA*lessCos + COSA*part*lessSin + (sinA + part*c1)*e1;
xUpper - S -> (x - S) + m + (x + m)*e2;
xLower - S -> (x - S) - m + (x - m)*e3;
