# cosSin of generic and of every kernel, and Ziv's test on it, for angles below
# MarginAngle; but for the sines of those below pi/4, which are in small.g.
@rn = float<ieee_64, ne>;

S0 = 0x1.921fb54442d18p+0; S1 = -0x1.4abbce625be09p-1; S2 = 0x1.466bc67754fffp-4; S3 = -0x1.32d2ccdfe9424p-8;
S4 = 0x1.50782d5f14823p-13; S5 = -0x1.e2fe76fdff885p-19; S6 = 0x1.e357ef99c063fp-25;
C0 = 1; C1 = -0x1.3bd3cc9be459dp+0; C2 = 0x1.03c1f081b0e01p-2; C3 = -0x1.55d3c7dc3b7f3p-6;
C4 = 0x1.e1f4fb8227886p-11; C5 = -0x1.a6c9c96ed0743p-16; C6 = 0x1.f3dca8530df2bp-22;
toInteger = 0x1.8p52;

# 1. Quarter turns. x*W is the angle in quarter turns, t what is left of it.
x = rn(x_); high = rn(high_); low = rn(low_);
q = rn(x*high + toInteger);
k = rn(q - toInteger);
f1 = rn(x*high - k);
f = rn(x*low + f1);

turns = high + low;
T = x*low + (x*high - k);
t = x*W - k;

# 2. Polynomials in y = f*f, and without rounding.
y = rn(f*f);
s5 = rn(y*S6 + S5); s4 = rn(y*s5 + S4); s3 = rn(y*s4 + S3); s2 = rn(y*s3 + S2); s1 = rn(y*s2 + S1); s0 = rn(y*s1 + S0);
s = rn(f*s0);
c5 = rn(y*C6 + C5); c4 = rn(y*c5 + C4); c3 = rn(y*c4 + C3); c2 = rn(y*c3 + C2); c1 = rn(y*c2 + C1); c = rn(y*c1 + C0);

Y = f*f;
P5 = Y*S6 + S5; P4 = Y*P5 + S4; P3 = Y*P4 + S3; P2 = Y*P3 + S2; P1 = Y*P2 + S1; P0 = Y*P1 + S0;
P = f*P0;
Q5 = Y*C6 + C5; Q4 = Y*Q5 + C4; Q3 = Y*Q4 + C3; Q2 = Y*Q3 + C2; Q1 = Y*Q2 + C1; Q = Y*Q1 + C0;

# 3. Sine and cosine of (pi/2)*f, and of (pi/2)*t by the mean value theorem.
sinF = P + P*sinRelative;
cosF = Q + Q*cosRelative;
sinT = sinF - (f - t)*sinSlope;
cosT = cosF - (f - t)*cosSlope;

# 4. The ends of the error intervals, rounded. The bound of a sine is less than
# Margin below 1.
m = rn(m_);
upperSin = rn(s + m); lowerSin = rn(s - m);
upperCos = rn(c + m); lowerCos = rn(c - m);

{
  m in [0x1.9p-50, 0x1p-49] /\
  |x*W| <= 0x1.45f307p+39 /\
  # quarterturns.g
  |W| in [1b-200, 1b60] /\ |high| in [1b-200, 1b60] /\
  |(high - W) / W| <= 0x1.92p-53 /\
  |low / high| <= 0x1.92p-53 /\
  |(turns - W) / W| <= 0x1.2p-105 /\
  # polynomials_test.go
  |sinRelative| <= 0x1.bp-55 /\
  |cosRelative| <= 0x1.38p-54 /\
  # (pi/2)*cos and (pi/2)*sin between f and t
  |sinSlope| <= 0x1.9220p0 /\
  |cosSlope| <= 0x1.1c8p0
->
  k - (q - toInteger) in [0, 0] /\
  |x*high - k| <= 0x1p-1 /\
  |f| <= 0x1.002p-1 /\
  |f - t| <= 0x1.81p-54 /\
  |s - sinT| <= 0x1.51p-52 /\
  |c - cosT| <= 0x1.44p-52 /\
  upperSin - sinT >= 1b-50 /\ lowerSin - sinT <= -1b-50 /\
  upperCos - cosT >= 1b-50 /\ lowerCos - cosT <= -1b-50
}

x*high -> (x*W) * (1 + (high - W)/W) { W <> 0 };
x*low -> (x*high) * (low/high) { high <> 0 };
x*high - k -> ((x*high + toInteger) - q) + ((q - toInteger) - k);
T - t -> (x*W) * ((turns - W)/W) { W <> 0 };
s - sinT -> (s - P) + (f - t)*sinSlope - P*sinRelative;
c - cosT -> (c - Q) + (f - t)*cosSlope - Q*cosRelative;
upperSin - sinT -> (upperSin - (s + m)) + (s - sinT) + m;
lowerSin - sinT -> (lowerSin - (s - m)) + (s - sinT) - m;
upperCos - cosT -> (upperCos - (c + m)) + (c - cosT) + m;
lowerCos - cosT -> (lowerCos - (c - m)) + (c - cosT) - m;
