# cosSin of generic and of every kernel, and Ziv's test on it, for the sine of
# angles below pi/4: its error is in proportion to the angle.
@rn = float<ieee_64, ne>;

S0 = 0x1.921fb54442d18p+0; S1 = -0x1.4abbce625be09p-1; S2 = 0x1.466bc67754fffp-4; S3 = -0x1.32d2ccdfe9424p-8;
S4 = 0x1.50782d5f14823p-13; S5 = -0x1.e2fe76fdff885p-19; S6 = 0x1.e357ef99c063fp-25;
C0 = 1; C1 = -0x1.3bd3cc9be459dp+0; C2 = 0x1.03c1f081b0e01p-2; C3 = -0x1.55d3c7dc3b7f3p-6;
C4 = 0x1.e1f4fb8227886p-11; C5 = -0x1.a6c9c96ed0743p-16; C6 = 0x1.f3dca8530df2bp-22;
toInteger = 0x1.8p52;
Margin = 0x1p-49;

# 1. Quarter turns: q is toInteger and k is 0, so that in the usual model of
# rounding, without underflow,
#   f = (x*high*(1+e1) + x*low)*(1+e2) = t*(1+error), t = x*W.
error = (1 + turnsRelative + (1 + highRelative)*e1)*(1 + e2) - 1;
f = rn(f_);

# 2. Polynomials in y = f*f, and without rounding.
y = rn(f*f);
s5 = rn(y*S6 + S5); s4 = rn(y*s5 + S4); s3 = rn(y*s4 + S3); s2 = rn(y*s3 + S2); s1 = rn(y*s2 + S1); s0 = rn(y*s1 + S0);
s = rn(f*s0);

Y = f*f;
P5 = Y*S6 + S5; P4 = Y*P5 + S4; P3 = Y*P4 + S3; P2 = Y*P3 + S2; P1 = Y*P2 + S1; P0 = Y*P1 + S0;
P = f*P0;

# 3. Sine of (pi/2)*f, and of (pi/2)*t by the mean value theorem.
sinF = P + P*sinRelative;
sinT = sinF - f*(error/(1 + error))*sinSlope;

# 4. Ziv's test with a bound of Margin times the angle (pi/2)*|t|, which three
# roundings may have changed.
angle = halfPi*f/(1 + error);
bound = Margin*angle*(1 + e3);
upper = s + bound;
lower = s - bound;

{
  f in [1b-160, 0x1.002p-1] /\
  |e1| <= 0x1.0p-53 /\ |e2| <= 0x1.0p-53 /\ |e3| <= 0x1.0p-50 /\
  # quarterturns.g
  |highRelative| <= 0x1.92p-53 /\
  |turnsRelative| <= 0x1.2p-105 /\
  # polynomials_test.go
  |sinRelative| <= 0x1.bp-55 /\
  # (pi/2)*cos between f and t
  |sinSlope| <= 0x1.9220p0 /\
  halfPi in [0x1.921fp0, 0x1.9220p0]
->
  |error| <= 0x1.08p-52 /\
  |(s - sinT) / angle| <= 0x1.1ap-51 /\
  (rn(upper) - sinT) / angle >= 1b-51 /\
  (rn(lower) - sinT) / angle <= -1b-51
}

s / f -> P0 * (1 + (s - P)/P) { f <> 0, P <> 0 };
s / angle -> (s / f) * (1 + error) / halfPi { angle <> 0, f <> 0 };
upper -> angle * (s/angle + Margin*(1 + e3)) { angle <> 0 };
lower -> angle * (s/angle - Margin*(1 + e3)) { angle <> 0 };
(s - sinT) / angle -> ((s - P)/P*P0 + (error/(1 + error))*sinSlope - P0*sinRelative) * (1 + error)/halfPi { angle <> 0, P <> 0 };
(rn(upper) - sinT) / angle -> (rn(upper) - upper)/upper * (s/angle + Margin*(1 + e3)) + Margin*(1 + e3) + (s - sinT)/angle { upper <> 0, angle <> 0 };
(rn(lower) - sinT) / angle -> (rn(lower) - lower)/lower * (s/angle - Margin*(1 + e3)) - Margin*(1 + e3) + (s - sinT)/angle { lower <> 0, angle <> 0 };
