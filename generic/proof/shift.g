# CosSinShift, by the AVX2 and AVX-512 kernels (x) and by the NEON kernel (n):
# cosine and sine of a+b from those of a and b, and Ziv's test on them. True values
# are in capitals.
@rn = float<ieee_64, ne>;

Margin = 0x1p-49;

cosA = rn(cosA_); sinA = rn(sinA_); cosB = rn(cosB_); sinB = rn(sinB_);
C = COSA*COSB - SINA*SINB;
S = SINA*COSB + COSA*SINB;

# AVX2, AVX-512: the bound is added to the rounded sum.
xCosAB = rn(cosA*cosB); xCos = rn(xCosAB - sinA*sinB);
xSinAB = rn(sinA*cosB); xSin = rn(xSinAB + cosA*sinB);
xCosUpper = rn(xCos + Margin); xCosLower = rn(xCos - Margin);
xSinUpper = rn(xSin + Margin); xSinLower = rn(xSin - Margin);

# NEON: the products are added to the bound.
nCosAB = rn(Margin + cosA*cosB); nCosUpper = rn(nCosAB - sinA*sinB); nCosLower = rn(nCosUpper - 2*Margin);
nSinAB = rn(Margin + sinA*cosB); nSinUpper = rn(nSinAB + cosA*sinB); nSinLower = rn(nSinUpper - 2*Margin);

{
  |COSA| <= 1 /\ |SINA| <= 1 /\ |COSB| <= 1 /\ |SINB| <= 1 /\ |C| <= 1 /\ |S| <= 1 /\
  # cossin.g
  |cosA - COSA| <= 0x1.51p-52 /\ |sinA - SINA| <= 0x1.51p-52 /\
  |cosB - COSB| <= 0x1.51p-52 /\ |sinB - SINB| <= 0x1.51p-52
->
  |xCos - C| <= 0x1.92p-50 /\ |xSin - S| <= 0x1.92p-50 /\
  xCosUpper - C >= 1b-52 /\ xCosLower - C <= -1b-52 /\
  xSinUpper - S >= 1b-52 /\ xSinLower - S <= -1b-52 /\
  nCosUpper - C >= 1b-52 /\ nCosLower - C <= -1b-52 /\
  nSinUpper - S >= 1b-52 /\ nSinLower - S <= -1b-52
}

nCosUpper - C -> (nCosUpper - (nCosAB - sinA*sinB)) + (nCosAB - (Margin + cosA*cosB)) + Margin + (cosA*cosB - COSA*COSB) - (sinA*sinB - SINA*SINB);
nSinUpper - S -> (nSinUpper - (nSinAB + cosA*sinB)) + (nSinAB - (Margin + sinA*cosB)) + Margin + (sinA*cosB - SINA*COSB) + (cosA*sinB - COSA*SINB);
xCosUpper - C -> (xCosUpper - (xCos + Margin)) + (xCos - C) + Margin;
xCosLower - C -> (xCosLower - (xCos - Margin)) + (xCos - C) - Margin;
xSinUpper - S -> (xSinUpper - (xSin + Margin)) + (xSin - S) + Margin;
xSinLower - S -> (xSinLower - (xSin - Margin)) + (xSin - S) - Margin;
nCosLower - C -> (nCosLower - (nCosUpper - 2*Margin)) + (nCosUpper - C) - 2*Margin;
nSinLower - S -> (nSinLower - (nSinUpper - 2*Margin)) + (nSinUpper - S) - 2*Margin;
