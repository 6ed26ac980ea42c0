/*
 * Values that move: each is a function of the monotonic clock and of the device, so that reads agree with each other.
 * Power, clocks and temperature follow the same activity as utilization; temperature lags behind it. The profile's
 * value is the middle of the movement. A value outside its plausible range is a test's choice and stays as it is.
 */

#include "dynamics.h"

#include "state.h"

#include <time.h>

#define SCALE 1000

static uint64_t milliseconds(void)
{
    struct timespec now;

    /* Nothing moves within its few milliseconds, and it costs a fifth. */
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    /* Well above the longest look back in time, so that the subtraction cannot wrap. */
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000 + 1000000;
}

static bool frozen(void)
{
    return sim.frozen || sim.machine->frozen;
}

static int64_t hash(uint64_t seed, uint64_t step)
{
    uint64_t value = seed * 0x9e3779b97f4a7c15ull + step;

    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ value >> 27) * 0x94d049bb133111ebull;
    value ^= value >> 31;
    return (int64_t)(value % (2 * SCALE + 1)) - SCALE;
}

/* Smooth noise between -SCALE and SCALE. */
static int64_t noise(uint64_t seed, uint64_t time, uint64_t period)
{
    int64_t from = hash(seed, time / period);
    int64_t to = hash(seed, time / period + 1);
    int64_t at = (int64_t)(time % period * SCALE / period);
    int64_t ease = at * at * (3 * SCALE - 2 * at) / (SCALE * SCALE);

    return from + (to - from) * ease / SCALE;
}

static uint64_t seed_of(const struct device *device)
{
    return ((uint64_t)device->card->number << 16) + ((uint64_t)device->role << 8) + device->number + 1;
}

static int64_t activity_at(const struct device *device, uint64_t time)
{
    uint64_t seed = seed_of(device);

    return (2 * noise(seed, time, 9000) + noise(seed + 77, time, 2300)) / 3;
}

/* What a card's movement was last: many reads fall into one tick of the clock. The caller holds the lock. */
struct tick {
    uint64_t seed;
    uint64_t time;
    int64_t value;
};

static bool ticked(struct tick *tick, const struct device *device, uint64_t time)
{
    uint64_t seed = seed_of(device);

    if (tick->seed == seed && tick->time == time)
        return false;
    tick->seed = seed;
    tick->time = time;
    return true;
}

static int64_t activity(const struct device *device)
{
    static struct tick ticks[SIM_MAX_DEVICES];
    struct tick *tick = &ticks[device->card->number];
    uint64_t now = milliseconds();

    if (ticked(tick, device, now))
        tick->value = activity_at(device, now);
    return tick->value;
}

static int64_t heat(const struct device *device)
{
    static struct tick ticks[SIM_MAX_DEVICES];
    struct tick *tick = &ticks[device->card->number];
    uint64_t now = milliseconds();
    int64_t sum = 0;

    if (!ticked(tick, device, now))
        return tick->value;
    for (uint64_t back = 0; back < 4; back++)
        sum += activity_at(device, now - back * 3000);
    tick->value = sum / 4;
    return tick->value;
}

static int64_t clamp(int64_t value, int64_t lowest, int64_t highest)
{
    return value < lowest ? lowest : value > highest ? highest : value;
}

static uint32_t percent(const struct device *device, uint32_t base, int64_t swing)
{
    if (frozen() || base == 0 || base > 100)
        return base;
    return (uint32_t)clamp(base + activity(device) * swing / SCALE, 0, 100);
}

uint32_t now_gpu_utilization(const struct device *device)
{
    return percent(device, device->gpu_utilization, 25);
}

uint32_t now_engine_utilization(const struct device *device, unsigned int engine)
{
    return percent(device, list_value(&device->engine_utilization, engine, 0), 25);
}

uint32_t now_memory_utilization(const struct device *device)
{
    return percent(device, device->memory_utilization, 15);
}

uint32_t now_vpu_utilization(const struct device *device)
{
    return percent(device, device->vpu_utilization, 10);
}

uint32_t now_encoder_utilization(const struct device *device)
{
    return percent(device, device->encoder_utilization, 10);
}

uint32_t now_decoder_utilization(const struct device *device)
{
    return percent(device, device->decoder_utilization, 10);
}

static int32_t temperature(const struct device *device, int32_t base, int64_t swing)
{
    int32_t highest = device->shutdown_temperature > 0 ? device->shutdown_temperature - 1 : 100;

    if (frozen() || base < 0 || base > highest)
        return base;
    return (int32_t)clamp(base + heat(device) * swing / SCALE, 0, highest);
}

int32_t now_gpu_temperature(const struct device *device)
{
    return temperature(device, device->gpu_temperature, 8);
}

int32_t now_memory_temperature(const struct device *device)
{
    return temperature(device, device->memory_temperature, 6);
}

static uint32_t clock_near(const struct device *device, uint32_t base, uint32_t maximum)
{
    if (frozen() || base > maximum)
        return base;
    return (uint32_t)clamp(base + activity(device) * base / 20 / SCALE, 0, maximum);
}

uint32_t now_gpu_clock(const struct device *device)
{
    return clock_near(device, device->gpu_clock, device->gpu_max_clock);
}

uint32_t now_memory_clock(const struct device *device)
{
    return clock_near(device, device->memory_clock, device->memory_max_clock);
}

uint32_t now_vpu_clock(const struct device *device)
{
    return clock_near(device, device->vpu_clock, device->vpu_max_clock);
}

uint32_t now_power_usage(const struct device *device)
{
    uint32_t base = device->power_usage;
    uint32_t limit = device->default_power_limit > 0 ? (uint32_t)device->default_power_limit : 1000000;

    if (frozen() || base > limit)
        return base;
    return (uint32_t)clamp(base + activity(device) * base / 5 / SCALE, 0, limit);
}

uint32_t now_fan_speed(const struct device *device, unsigned int fan)
{
    uint32_t base = list_value(&device->fan_speed, fan, 0);

    if (frozen() || base == 0 || base > 100)
        return base;
    return (uint32_t)clamp(base + heat(device) * 10 / SCALE, 0, 100);
}

uint32_t now_fan_rpm(const struct device *device, unsigned int fan)
{
    uint32_t base = list_value(&device->fan_rpm, fan, 0);

    if (frozen() || base > 10000)
        return base;
    return (uint32_t)(base + heat(device) * base / 8 / SCALE);
}

uint64_t now_memory_used(const struct device *device)
{
    uint64_t base = device->memory_used;
    uint64_t total = device->memory_total;
    int64_t drift;

    if (frozen() || base > total || total > (uint64_t)1 << 48)
        return base;
    drift = noise(seed_of(device) + 5, milliseconds(), 20000) * (int64_t)(total / 40) / SCALE;
    return (uint64_t)clamp((int64_t)base + drift, 0, (int64_t)total);
}
