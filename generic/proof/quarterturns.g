# QuarterTurns of generic: high + low against W = invFreq*2/pi, for 1 <= w < 2.
@rn = float<ieee_64, ne>;

twoOverPi0 = 0x1.45f306dc9c883p-1;
twoOverPi1 = -0x1.6b01ec5417056p-55;
twoOverPi2 = -0x1.6447e493ad4cep-109;

w = rn(w_);
high = rn(w*twoOverPi0);
low0 = rn(w*twoOverPi0 - high);
low1 = rn(w*twoOverPi1 + low0);
low = rn(w*twoOverPi2 + low1);

exact0 = w*twoOverPi0 - high;
exact1 = w*twoOverPi1 + exact0;
exact = w*twoOverPi2 + exact1;
parts = twoOverPi0 + twoOverPi1 + twoOverPi2;
W = w*twoOverPi;
turns = high + low;

{
  w in [1, 2] /\
  twoOverPi in [0x1.45f3p-1, 0x1.45f4p-1] /\
  |parts - twoOverPi| <= 0x1p-162 /\
  # The error of a rounded product of two float64 is a float64.
  low0 - exact0 in [0, 0]
->
  |(high - W) / W| <= 0x1.92p-53 /\
  |low / high| <= 0x1.92p-53 /\
  |(turns - W) / W| <= 0x1.2p-105
}

high - W -> (high - w*twoOverPi0) + w*(twoOverPi0 - twoOverPi);
twoOverPi0 - twoOverPi -> (parts - twoOverPi) - (twoOverPi1 + twoOverPi2);
turns - W -> (low - exact) + w*(parts - twoOverPi);
low - exact -> (low - (w*twoOverPi2 + low1)) + (low1 - exact1);
low1 - exact1 -> (low1 - (w*twoOverPi1 + low0)) + (low0 - exact0);
low0 -> (low0 - exact0) + exact0;
$ w in 64;
