/* The values that move. */

#ifndef SIM_DYNAMICS_H
#define SIM_DYNAMICS_H

#include "machine.h"

/* The device's values at this moment; the profile's when frozen. */
uint32_t now_gpu_utilization(const struct device *device);
uint32_t now_engine_utilization(const struct device *device, unsigned int engine);
int32_t now_gpu_temperature(const struct device *device);
int32_t now_memory_temperature(const struct device *device);
uint32_t now_gpu_clock(const struct device *device);
uint32_t now_power_usage(const struct device *device);
uint32_t now_fan_speed(const struct device *device, unsigned int fan);
uint32_t now_fan_rpm(const struct device *device, unsigned int fan);
uint64_t now_memory_used(const struct device *device);
uint32_t now_memory_utilization(const struct device *device);
uint32_t now_memory_clock(const struct device *device);
uint32_t now_vpu_utilization(const struct device *device);
uint32_t now_encoder_utilization(const struct device *device);
uint32_t now_decoder_utilization(const struct device *device);
uint32_t now_vpu_clock(const struct device *device);

#endif
