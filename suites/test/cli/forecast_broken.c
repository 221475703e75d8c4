/* forecast_broken.c: a lockstep whose forecasts take every reduction for one between two ranks:
 * what finds a planted step has to miss it with this one. */
#include "forecast/forecast.h"

int __real_forecast_traffic(const struct record_key *key, size_t params, int ranks,
                            struct fit_traffic *traffic);
int __wrap_forecast_traffic(const struct record_key *key, size_t params, int ranks,
                            struct fit_traffic *traffic);

int __wrap_forecast_traffic(const struct record_key *key, size_t params, int ranks,
                            struct fit_traffic *traffic)
{
    return __real_forecast_traffic(key, params, ranks > 2 ? 2 : ranks, traffic);
}
