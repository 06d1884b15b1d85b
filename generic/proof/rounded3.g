# CosSinShiftRounded3: cosine and sine of an exact angle are turned by e, the exact angle minus
# the float32 one. True values are in capitals. COSE and SINE are those of e, by Taylor's series
# with the rests restCos and restSin.
@rn = float<ieee_64, ne>;

RoundedMargin = 0x1p-41;
third = rn(1/3);

c = rn(c_); s = rn(s_); e = float<ieee_32, ne>(e_);
h = 0.5*e;
COSE = 1 - h*e + restCos;
SINE = e - h*e*e/3 + restSin;
C = COSA*COSE + SINA*SINE;
S = SINA*COSE - COSA*SINE;

t = rn(third*e);
u0 = rn(c + t*s); v0 = rn(s - t*c);
u = rn(s - h*u0); v = rn(c + h*v0);
cos = rn(c + e*u); sin = rn(s - e*v);
cosUpper = rn(cos + RoundedMargin); cosLower = rn(cos - RoundedMargin);
sinUpper = rn(sin + RoundedMargin); sinLower = rn(sin - RoundedMargin);

{
  |COSA| <= 1 /\ |SINA| <= 1 /\ |e| <= 0x1p-10 /\
  |restCos| <= 0x1.56p-45 /\ |restSin| <= 0x1.2p-57 /\
  # shift.g
  |c - COSA| <= 0x1.92p-50 /\ |s - SINA| <= 0x1.92p-50
->
  |cos - C| <= 0x1.8p-45 /\ |sin - S| <= 0x1.8p-45 /\
  cosUpper - C >= 1b-42 /\ cosLower - C <= -1b-42 /\
  sinUpper - S >= 1b-42 /\ sinLower - S <= -1b-42
}

t - e/3 -> (t - third*e) + e*(third - 1/3);
cos - C -> (cos - (c + e*u)) + e*(u - (s - h*u0)) - e*h*(u0 - (c + t*s)) - e*h*s*(t - e/3) + (1 - h*e)*(c - COSA) + (e - h*e*e/3)*(s - SINA) - COSA*restCos - SINA*restSin;
sin - S -> (sin - (s - e*v)) - e*(v - (c + h*v0)) - e*h*(v0 - (s - t*c)) + e*h*c*(t - e/3) + (1 - h*e)*(s - SINA) - (e - h*e*e/3)*(c - COSA) - SINA*restCos + COSA*restSin;
cosUpper - C -> (cosUpper - (cos + RoundedMargin)) + (cos - C) + RoundedMargin;
cosLower - C -> (cosLower - (cos - RoundedMargin)) + (cos - C) - RoundedMargin;
sinUpper - S -> (sinUpper - (sin + RoundedMargin)) + (sin - S) + RoundedMargin;
sinLower - S -> (sinLower - (sin - RoundedMargin)) + (sin - S) - RoundedMargin;
