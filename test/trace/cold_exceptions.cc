// Landing pads in another section.
// variants: -O2
#include "../exact/cold_exceptions.cc"
