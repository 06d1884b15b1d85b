# CosSinShiftRounded: cosine and sine of an exact angle are turned by the float32 angle minus
# it, d = -e. True values are in capitals. COSD and SIND are those of d, by Taylor's series
# with the rests restCos and d^5*restSin.
@rn = float<ieee_64, ne>;

RoundedMargin = 0x1p-41;

c = rn(c_); s = rn(s_); d = float<ieee_32, ne>(d_);
h = 0.5*d;
COSD = 1 - 0.5*d*d + restCos;
SIND = d - d*d*d*sixth;
C = COSA*COSD - SINA*SIND;
S = SINA*COSD + COSA*SIND;

c1 = rn(c - h*s);
sin = rn(s + d*c1);
cos = rn(c1 - h*sin);
cosUpper = rn(cos + RoundedMargin); cosLower = rn(cos - RoundedMargin);
sinUpper = rn(sin + RoundedMargin); sinLower = rn(sin - RoundedMargin);

{
  |COSA| <= 1 /\ |SINA| <= 1 /\ |d| <= 0x1p-13 /\
  |restCos| <= 0x1.6p-57 /\ sixth in [0x1.5555p-3, 0x1.5556p-3] /\
  # shift.g
  |c - COSA| <= 0x1.92p-50 /\ |s - SINA| <= 0x1.92p-50
->
  |cos - C| <= 0x1.7p-42 /\ |sin - S| <= 0x1.7p-42 /\
  cosUpper - C >= 1b-44 /\ cosLower - C <= -1b-44 /\
  sinUpper - S >= 1b-44 /\ sinLower - S <= -1b-44
}

cos - C -> (cos - (c1 - h*sin)) + (1 - h*d)*(c1 - (c - h*s)) - h*(sin - (s + d*c1)) + (1 - h*d)*(c - COSA) - (2*h - h*h*d)*(s - SINA) - COSA*restCos + SINA*d*d*d*(0.25 - sixth);
sin - S -> (sin - (s + d*c1)) + d*(c1 - (c - h*s)) + d*(c - COSA) + (1 - h*d)*(s - SINA) - SINA*restCos + COSA*d*d*d*sixth;
cosUpper - C -> (cosUpper - (cos + RoundedMargin)) + (cos - C) + RoundedMargin;
cosLower - C -> (cosLower - (cos - RoundedMargin)) + (cos - C) - RoundedMargin;
sinUpper - S -> (sinUpper - (sin + RoundedMargin)) + (sin - S) + RoundedMargin;
sinLower - S -> (sinLower - (sin - RoundedMargin)) + (sin - S) - RoundedMargin;
