# The sine of CosSinShift for a reach*invFreq = R below 1, in units of R: the
# angles |a| = R*part and |b| <= R*(1-part) share it. In the usual model of
# rounding, without underflow.

Margin = 0x1p-49;

# sine of a and of b, true and computed, in units of R
SINA = part*UNITA; sinA = part*(UNITA + errorA);
SINB = (1 - part)*UNITB; sinB = (1 - part)*(UNITB + errorB);
cosA = COSA + errorCosA; cosB = COSB + errorCosB;
S = SINA*COSB + COSA*SINB;
m = Margin*(1 + e0);

# AVX2, AVX-512: the bound is added to the rounded sum.
xSum = sinA*cosB*(1 + e1) + cosA*sinB;
x = xSum*(1 + e2);
xUpper = (x + m)*(1 + e3);
xLower = (x - m)*(1 + e4);

# NEON: the products are added to the bound.
nSum = (m + sinA*cosB)*(1 + e1) + cosA*sinB;
nUpper = nSum*(1 + e2);
nLower = (nUpper - 2*m)*(1 + e3);

{
  part in [0, 1] /\
  |UNITA| <= 1 /\ |UNITB| <= 1 /\ |COSA| <= 1 /\ |COSB| <= 1 /\
  # small.g
  |errorA| <= 0x1.1ap-51 /\ |errorB| <= 0x1.1ap-51 /\
  # cossin.g
  |errorCosA| <= 0x1.51p-52 /\ |errorCosB| <= 0x1.51p-52 /\
  |e0| <= 0x1.0p-50 /\
  |e1| <= 0x1.0p-53 /\ |e2| <= 0x1.0p-53 /\ |e3| <= 0x1.0p-53 /\ |e4| <= 0x1.0p-53
->
  |x - S| <= 0x1.2ap-50 /\
  xUpper - S >= 1b-51 /\ xLower - S <= -1b-51 /\
  nUpper - S >= 1b-51 /\ nLower - S <= -1b-51
}

# The errors of the two products, summed up with the same part.
sinA*cosB - SINA*COSB -> part*(UNITA*errorCosB + errorA*cosB);
cosA*sinB - COSA*SINB -> (1 - part)*(UNITB*errorCosA + errorB*cosA);
x - S -> (xSum*e2 + sinA*cosB*e1) + ((sinA*cosB - SINA*COSB) + (cosA*sinB - COSA*SINB));
xUpper - S -> (x - S) + m + (x + m)*e3;
xLower - S -> (x - S) - m + (x - m)*e4;
nUpper - S -> m + (nSum*e2 + (m + sinA*cosB)*e1) + ((sinA*cosB - SINA*COSB) + (cosA*sinB - COSA*SINB));
nLower - S -> (nUpper - S) - 2*m + (nUpper - 2*m)*e3;
$ part in 32;
