"""What nvidia-smi of drivers 580 to 610 has, and in which order: data, as text. `fields` and `sections` read it.

FIELDS are the properties of --query-gpu. Those that a card here can answer are readings, and stand here by their names;
each of the others, which nobody answers, has a line: names, unit and help.

SECTIONS are the lines of -q and -x: key, tag, reading, and the section of -d that a line of the first level belongs to
("only": shown only where -d asks for it). A line below another is indented. Without a reading nobody answers it;
"none" is the word None, "samples" the five lines of past samples, which MTML does not keep. A ~ is a blank that a key
begins or ends with.
"""

FIELDS = """\
timestamp driver_version
vgpu_driver_capability.heterogenous_multivGPU | | Whether virtual devices may differ in type.
count name serial uuid pci.bus_id pci.domain pci.bus pci.device pci.baseClass pci.subClass pci.device_id
pci.sub_device_id
vgpu_device_capability.fractional_multiVgpu | | Whether virtual devices may be fractions of the card.
vgpu_device_capability.heterogeneous_timeSlice_profile | | Whether time slices may differ in profile.
vgpu_device_capability.heterogeneous_timeSlice_sizes | | Whether time slices may differ in frame buffer.
vgpu_device_capability.homogeneous_placements | | Whether placements of equal virtual devices are told.
vgpu_device_capability.mig_timeSlicing | | Whether instances may be shared by time.
vgpu_device_capability.mig_timeSlicing_mode | | Whether instances are shared by time.
pcie.link.gen.current pcie.link.gen.gpucurrent pcie.link.gen.max pcie.link.gen.gpumax
pcie.link.gen.hostmax | | Greatest PCIe generation of the host's port.
pcie.link.width.current pcie.link.width.max index display_mode display_attached display_active persistence_mode
addressing_mode | | How the GPU reaches memory of the host: HMM, ATS or None.
accounting.mode accounting.buffer_size
driver_model.current | | Driver model of Windows, now.
driver_model.pending | | Driver model of Windows, from the next boot on.
vbios_version
inforom.img inforom.image | | Version of the information ROM.
inforom.oem | | Version of the configuration data in the information ROM.
inforom.ecc | | Version of the ECC records in the information ROM.
inforom.pwr inforom.power | | Version of the power data in the information ROM.
inforom.checksum_validation | | Whether the checksum of the information ROM is right.
gpu_recovery_action | | What to do to recover the GPU.
gom.current gpu_operation_mode.current | | GPU operation mode, now.
gom.pending gpu_operation_mode.pending | | GPU operation mode, from the next boot on.
fan.speed pstate clocks_event_reasons.supported clocks_event_reasons.active clocks_event_reasons.gpu_idle
clocks_event_reasons.applications_clocks_setting clocks_event_reasons.sw_power_cap clocks_event_reasons.hw_slowdown
clocks_event_reasons.hw_thermal_slowdown clocks_event_reasons.hw_power_brake_slowdown
clocks_event_reasons.sw_thermal_slowdown clocks_event_reasons.sync_boost
clocks_event_reasons_counters.sw_power_cap | us | Time in which the power limit lowered the clocks.
clocks_event_reasons_counters.sync_boost | us | Time in which another GPU held the clocks down.
clocks_event_reasons_counters.sw_thermal_slowdown | us | Time in which the driver lowered the clocks for heat.
clocks_event_reasons_counters.hw_thermal_slowdown | us | Time in which the hardware did so.
clocks_event_reasons_counters.hw_power_brake_slowdown | us | Time in which a signal from outside did so.
memory.total
memory.reserved | MiB | Device memory that driver and firmware keep for themselves.
memory.used memory.free compute_mode compute_cap utilization.gpu utilization.memory utilization.encoder
utilization.decoder utilization.jpeg utilization.ofa encoder.stats.sessionCount encoder.stats.averageFps
encoder.stats.averageLatency
dramEncryption.mode.current | | Whether the device memory is encrypted.
dramEncryption.mode.pending | | Whether the device memory will be encrypted from the next boot on.
ecc.mode.current ecc.mode.pending ecc.errors.corrected.volatile.device_memory ecc.errors.corrected.volatile.dram
ecc.errors.corrected.volatile.register_file ecc.errors.corrected.volatile.l1_cache
ecc.errors.corrected.volatile.l2_cache ecc.errors.corrected.volatile.texture_memory ecc.errors.corrected.volatile.cbu
ecc.errors.corrected.volatile.sram ecc.errors.corrected.volatile.total ecc.errors.corrected.aggregate.device_memory
ecc.errors.corrected.aggregate.dram ecc.errors.corrected.aggregate.register_file
ecc.errors.corrected.aggregate.l1_cache ecc.errors.corrected.aggregate.l2_cache
ecc.errors.corrected.aggregate.texture_memory ecc.errors.corrected.aggregate.cbu ecc.errors.corrected.aggregate.sram
ecc.errors.corrected.aggregate.total ecc.errors.uncorrected.volatile.device_memory
ecc.errors.uncorrected.volatile.dram ecc.errors.uncorrected.volatile.register_file
ecc.errors.uncorrected.volatile.l1_cache ecc.errors.uncorrected.volatile.l2_cache
ecc.errors.uncorrected.volatile.texture_memory ecc.errors.uncorrected.volatile.cbu
ecc.errors.uncorrected.volatile.sram ecc.errors.uncorrected.volatile.total
ecc.errors.uncorrected.aggregate.device_memory ecc.errors.uncorrected.aggregate.dram
ecc.errors.uncorrected.aggregate.register_file ecc.errors.uncorrected.aggregate.l1_cache
ecc.errors.uncorrected.aggregate.l2_cache ecc.errors.uncorrected.aggregate.texture_memory
ecc.errors.uncorrected.aggregate.cbu ecc.errors.uncorrected.aggregate.sram ecc.errors.uncorrected.aggregate.total
ecc.errors.uncorrected.volatile.sram.parity | | Parity errors in SRAM since the driver was loaded.
ecc.errors.uncorrected.volatile.sram.secded | | SEC-DED errors in SRAM since the driver was loaded.
ecc.errors.uncorrected.aggregate.sram.parity | | Parity errors in SRAM in the card's life.
ecc.errors.uncorrected.aggregate.sram.secded | | SEC-DED errors in SRAM in the card's life.
ecc.errors.uncorrected.aggregate.sram.thresholdExceeded | | Whether SRAM errors passed their threshold.
ecc.errors.uncorrected.aggregate.sram.l2 | | SRAM errors in the L2 cache.
ecc.errors.uncorrected.aggregate.sram.sm | | SRAM errors in the multiprocessors.
ecc.errors.uncorrected.aggregate.sram.mcu | | SRAM errors in microcontrollers.
ecc.errors.uncorrected.aggregate.sram.pcie | | SRAM errors in the PCIe unit.
ecc.errors.uncorrected.aggregate.sram.other | | SRAM errors elsewhere.
retired_pages.single_bit_ecc.count retired_pages.double_bit.count retired_pages.pending remapped_rows.correctable
remapped_rows.correctable_inactive | | The same, of rows not in use.
remapped_rows.uncorrectable
remapped_rows.uncorrectable_inactive | | The same, of rows not in use.
remapped_rows.pending remapped_rows.failure
remapped_rows.histogram.max | | Number of banks with all spare rows left.
remapped_rows.histogram.high | | Number of banks with many spare rows left.
remapped_rows.histogram.partial | | Number of banks with some spare rows left.
remapped_rows.histogram.low | | Number of banks with few spare rows left.
remapped_rows.histogram.none | | Number of banks without spare rows.
temperature.gpu temperature.gpu.tlimit temperature.memory power.management power.draw power.draw.average
power.draw.instant power.limit enforced.power.limit power.default_limit power.min_limit power.max_limit
module.power.draw.average | W | Power that the module draws, on average.
module.power.draw.instant | W | Power that the module draws at this moment.
module.power.limit module.power.requested_limit | W | Power limit that was set for the module.
module.enforced.power.limit module.power.current_limit | W | Power limit of the module in force.
module.power.default_limit | W | Power limit of the module by default.
module.power.min_limit | W | Least power limit that can be set for the module.
module.power.max_limit | W | Greatest power limit that can be set for the module.
power_smoothing.tmp_floor | | Power smoothing: floor of the power.
power_smoothing.tmp_ceil | | Power smoothing: ceiling of the power.
power_smoothing.hw_lifetime_remaining_percent | | Power smoothing: life that is left to the hardware.
power_smoothing.enabled | | Power smoothing: whether it is on.
power_smoothing.delayed_power_smoothing_supported | | Power smoothing: whether it may be delayed.
power_smoothing.soc_power_smoothing_enabled | | Power smoothing: whether it is on for the SoC.
power_smoothing.priv_level | | Power smoothing: privilege level.
power_smoothing.imm_ramp_down | | Power smoothing: whether the power may fall at once.
power_smoothing.max_percent_tmp_floor | | Power smoothing: greatest floor in percent.
power_smoothing.min_percent_tmp_floor | | Power smoothing: least floor in percent.
power_smoothing.primary_power_floor | W | Power smoothing: first floor.
power_smoothing.secondary_power_floor | W | Power smoothing: second floor.
power_smoothing.min_primary_floor_activation_offset | W | Power smoothing: least offset of the first floor.
power_smoothing.min_primary_floor_activation_point | W | Power smoothing: least power of the first floor.
power_smoothing.window_multiplier | ms | Power smoothing: multiplier of the window.
power_smoothing.num_preset_profiles | | Power smoothing: number of profiles.
power_smoothing.curr_profile.percent_tmp_floor | | Power smoothing profile: floor in percent.
power_smoothing.curr_profile.ramp_up_rate | | Power smoothing profile: how fast the power may rise.
power_smoothing.curr_profile.ramp_down_rate | | Power smoothing profile: how fast the power may fall.
power_smoothing.curr_profile.ramp_down_hysteresis | | Power smoothing profile: delay of the fall.
power_smoothing.curr_profile.secondary_power_floor | W | Power smoothing profile: second floor.
power_smoothing.curr_profile.primary_floor_act_window_multiplier | | Power smoothing profile: window of the first floor's start.
power_smoothing.curr_profile.primary_floor_tar_window_multiplier | | Power smoothing profile: window of the first floor's target.
power_smoothing.curr_profile.primary_floor_act_offset | W | Power smoothing profile: offset of the first floor.
power_smoothing.active_profile | | Power smoothing: number of the profile in force.
power_smoothing.admin_override.percent_tmp_floor | | Power smoothing override: floor in percent.
power_smoothing.admin_override.ramp_up_rate | | Power smoothing override: how fast the power may rise.
power_smoothing.admin_override.ramp_down_rate | | Power smoothing override: how fast the power may fall.
power_smoothing.admin_override.ramp_down_hysteresis | | Power smoothing override: delay of the fall.
power_smoothing.admin_override.secondary_power_floor | W | Power smoothing override: second floor.
power_smoothing.admin_override.primary_floor_act_window_multiplier | | Power smoothing override: window of the first floor's start.
power_smoothing.admin_override.primary_floor_tar_window_multiplier | | Power smoothing override: window of the first floor's target.
power_smoothing.admin_override.primary_floor_act_offset | W | Power smoothing override: offset of the first floor.
edpp_multiplier | % | Multiplier of the peak power limit.
clocks.current.graphics clocks.current.sm clocks.current.memory clocks.current.video clocks.applications.graphics
clocks.applications.memory clocks.default_applications.graphics clocks.default_applications.memory clocks.max.graphics
clocks.max.sm clocks.max.memory mig.mode.current mig.mode.pending
gsp.mode.current | | Whether a system processor's firmware is in use.
gsp.mode.default | | Whether it is in use by default.
c2c.mode | | Whether the chip is linked to a processor chip.
protected_memory.total | MiB | Protected device memory.
protected_memory.used | MiB | Protected device memory in use.
protected_memory.free | MiB | Protected device memory that is free.
fabric.state | | State of the registration with a fabric.
fabric.status | | Result of the registration with a fabric.
fabric.cliqueId | | Clique of the fabric that the GPU belongs to.
fabric.clusterUuid | | Cluster that the GPU belongs to.
fabric.health.summary | | Fabric: state as a whole.
fabric.health.bandwidth | | Fabric: whether the bandwidth is degraded.
fabric.health.route_recovery_in_progress | | Fabric: whether routes are being recovered.
fabric.health.route_unhealthy | | Fabric: whether a route is faulty.
fabric.health.access_timeout_recovery | | Fabric: whether time-outs are being recovered from.
fabric.health.incorrect_configuration | | Fabric: whether the configuration is wrong.
fabric.health.partition_assigned | | Fabric: whether a partition is assigned.
platform.chassis_serial_number | | Serial number of the chassis.
platform.slot_number | | Slot of the chassis.
platform.tray_index | | Tray of the chassis.
platform.host_id | | Host within the slot.
platform.peer_type | | How the GPUs of the platform are joined.
platform.module_id | | Number of the GPU within the host.
platform.gpu_fabric_guid | | Fabric id of the GPU.
hostname | | Host name that was set for the GPU.
kmd_version | | Version of the kernel mode driver of Windows.
gpu.base.current | | Base of the GPU, now.
gpu.base.requested | | Base of the GPU that was asked for.
gpu.base.default | | Base of the GPU by default.
gpu.base.min | | Least base of the GPU.
gpu.base.max | | Greatest base of the GPU.
bbx.time_run | | Time that the card has run, from its black box.
"""  # noqa: E501

SECTIONS = """\
Product Name | product_name | name
Product Brand | product_brand | brand
Product Architecture | product_architecture
Display Mode | display_mode | display_mode
Display Attached | display_attached | display_attached
Display Active | display_active | display_active
Persistence Mode | persistence_mode | persistence_mode
Addressing Mode | addressing_mode
MIG Mode | mig_mode
    Current | current_mig | mig.mode.current
    Pending | pending_mig | mig.mode.pending
Accounting Mode | accounting_mode | accounting.mode | ACCOUNTING
Accounting Mode Buffer Size | accounting_mode_buffer_size | accounting.buffer_size | ACCOUNTING
Driver Model | driver_model
    Current | current_dm
    Pending | pending_dm
Serial Number | serial | serial
GPU UUID | uuid | uuid
GPU PDI | pdi
Minor Number | minor_number | minor_number
VBIOS Version | vbios_version | vbios_version
MultiGPU Board | multigpu_board | board.multi_gpu
Board ID | board_id | board.id
Board Part Number | board_part_number
GPU Part Number | gpu_part_number
FRU Part Number | gpu_fru_part_number
Platform Info | platformInfo
    Chassis Serial Number | chassis_serial_number
    Slot Number | slot_number
    Tray Index | tray_index
    Host ID | host_id
    Peer Type | peer_type
    Module Id | module_id
    GPU Fabric GUID | gpu_fabric_guid
Inforom Version | inforom_version
    Image Version | img_version
    OEM Object | oem_object
    ECC Object | ecc_object
    Power Management Object | pwr_object
Inforom BBX Object Flush | inforom_bbx_flush
    Latest Timestamp | latest_timestamp
    Latest Duration | latest_duration
GPU Operation Mode | gpu_operation_mode
    Current | current_gom
    Pending | pending_gom
GPU C2C Mode | c2c_mode
GPU Virtualization Mode | gpu_virtualization_mode
    Virtualization Mode | virtualization_mode | virtualization
    Host VGPU Mode | host_vgpu_mode
    vGPU Heterogeneous Mode | vgpu_heterogeneous_mode
GPU Recovery Action | gpu_recovery_action
GSP Firmware Version | gsp_firmware_version | | GSP_FIRMWARE_VERSION
IBMNPU | ibmnpu
    Relaxed Ordering Mode | relaxed_ordering_mode
PCI | pci
    Bus | pci_bus | pci.bus
    Device | pci_device | pci.device
    Domain | pci_domain | pci.domain
    Base Classcode | pci_base_class | pci.baseClass
    Sub Classcode | pci_sub_class | pci.subClass
    Device Id | pci_device_id | pci.device_id
    Bus Id | pci_bus_id | pci.bus_id
    Sub System Id | pci_sub_system_id | pci.sub_device_id
    GPU Link Info | pci_gpu_link_info
        PCIe Generation | pcie_gen
            Max | max_link_gen | pcie.link.gen.max
            Current | current_link_gen | pcie.link.gen.current
            Device Current | device_current_link_gen | pcie.link.gen.gpucurrent
            Device Max | max_device_link_gen | pcie.link.gen.gpumax
            Host Max | max_host_link_gen
        Link Width | link_widths
            Max | max_link_width | pcie.link.width.max
            Current | current_link_width | pcie.link.width.current
    Bridge Chip | pci_bridge_chip
        Type | bridge_chip_type
        Firmware | bridge_chip_fw
    Replays Since Reset | replay_counter | pcie.replays
    Replay Number Rollovers | replay_rollover_counter
    Tx Throughput | tx_util | pcie.tx
    Rx Throughput | rx_util | pcie.rx
    Atomic Caps Outbound | atomic_caps_outbound
    Atomic Caps Inbound | atomic_caps_inbound
Fan Speed | fan_speed | fan.speed
Performance State | performance_state | pstate | PERFORMANCE
Clocks Event Reasons | clocks_event_reasons | | PERFORMANCE
    Idle | clocks_event_reason_gpu_idle | clocks_event_reasons.gpu_idle
    Applications Clocks Setting | clocks_event_reason_applications_clocks_setting | clocks_event_reasons.applications_clocks_setting
    SW Power Cap | clocks_event_reason_sw_power_cap | clocks_event_reasons.sw_power_cap
    HW Slowdown | clocks_event_reason_hw_slowdown | clocks_event_reasons.hw_slowdown
    ~~~~HW Thermal Slowdown | clocks_event_reason_hw_thermal_slowdown | clocks_event_reasons.hw_thermal_slowdown
    ~~~~HW Power Brake Slowdown | clocks_event_reason_hw_power_brake_slowdown | clocks_event_reasons.hw_power_brake_slowdown
    Sync Boost | clocks_event_reason_sync_boost | clocks_event_reasons.sync_boost
    SW Thermal Slowdown | clocks_event_reason_sw_thermal_slowdown | clocks_event_reasons.sw_thermal_slowdown
    Display Clock Setting | clocks_event_reason_display_clocks_setting
Clocks Event Reasons Counters | clocks_event_reasons_counters | | PERFORMANCE
    SW Power Capping | clocks_event_reasons_counters_sw_power_cap
    Sync Boost | clocks_event_reasons_counters_sync_boost
    SW Thermal Slowdown | clocks_event_reasons_counters_sw_therm_slowdown
    HW Thermal Slowdown | clocks_event_reasons_counters_hw_therm_slowdown
    HW Power Braking | clocks_event_reasons_counters_hw_power_brake
Sparse Operation Mode | sparse_operation_mode | | PERFORMANCE
FB Memory Usage | fb_memory_usage | | MEMORY
    Total | total | memory.total
    Reserved | reserved
    Used | used | memory.used
    Free | free | memory.free
BAR1 Memory Usage | bar1_memory_usage | | MEMORY
    Total | total
    Used | used
    Free | free
Conf Compute Protected Memory Usage | cc_protected_memory_usage | | MEMORY
    Total | total
    Used | used
    Free | free
Compute Mode | compute_mode | compute_mode | COMPUTE
Utilization | utilization | | UTILIZATION
    GPU | gpu_util | utilization.gpu
    Memory | memory_util | utilization.memory
    Encoder | encoder_util | utilization.encoder
    Decoder | decoder_util | utilization.decoder
    JPEG | jpeg_util | utilization.jpeg
    OFA | ofa_util | utilization.ofa
GPU Utilization Samples | | samples | UTILIZATION only
Memory Utilization Samples | | samples | UTILIZATION only
ENC Utilization Samples | | samples | UTILIZATION only
DEC Utilization Samples | | samples | UTILIZATION only
JPG Utilization Samples | | samples | UTILIZATION only
OFA Utilization Samples | | samples | UTILIZATION only
Encoder Stats | encoder_stats | | ENCODER_STATS
    Active Sessions | session_count | encoder.stats.sessionCount
    Average FPS | average_fps | encoder.stats.averageFps
    Average Latency | average_latency | encoder.stats.averageLatency
FBC Stats | fbc_stats | | FBC_STATS
    Active Sessions | session_count
    Average FPS | average_fps
    Average Latency | average_latency
DRAM Encryption Mode | dram_encryption_mode
    Current | current_dram_encryption
    Pending | pending_dram_encryption
ECC Mode | ecc_mode | | ECC
    Current | current_ecc | ecc.mode.current
    Pending | pending_ecc | ecc.mode.pending
ECC Errors | ecc_errors | | ECC
    Volatile | volatile
        SRAM Correctable | sram_correctable | ecc.errors.corrected.volatile.sram
        SRAM Uncorrectable Parity | sram_uncorrectable_parity
        SRAM Uncorrectable SEC-DED | sram_uncorrectable_secded
        DRAM Correctable | dram_correctable | ecc.errors.corrected.volatile.dram
        DRAM Uncorrectable | dram_uncorrectable | ecc.errors.uncorrected.volatile.dram
    Aggregate | aggregate
        SRAM Correctable | sram_correctable | ecc.errors.corrected.aggregate.sram
        SRAM Uncorrectable Parity | sram_uncorrectable_parity
        SRAM Uncorrectable SEC-DED | sram_uncorrectable_secded
        DRAM Correctable | dram_correctable | ecc.errors.corrected.aggregate.dram
        DRAM Uncorrectable | dram_uncorrectable | ecc.errors.uncorrected.aggregate.dram
        SRAM Threshold Exceeded | sram_threshold_exceeded
    Aggregate Uncorrectable SRAM Sources | aggregate_uncorrectable_sram_sources
        SRAM L2 | sram_l2
        SRAM SM | sram_sm
        SRAM Microcontroller | sram_microcontroller
        SRAM PCIE | sram_pcie
        SRAM Other | sram_other
    Channel Repair Pending | channel_repair_pending
    TPC Repair Pending | tpc_repair_pending
    Unrepairable Memory | unrepairable_memory
Retired Pages | retired_pages | | PAGE_RETIREMENT
    Single Bit ECC | | retired_pages.single_bit_ecc.count
    Double Bit ECC | | retired_pages.double_bit.count
    Pending Page Blacklist | | retired_pages.pending
Remapped Rows | remapped_rows | | ROW_REMAPPER
    Correctable Error | remapped_row_corr | remapped_rows.correctable
    Inactive Correctable Error | remapped_row_corr_inactive
    Uncorrectable Error | remapped_row_unc | remapped_rows.uncorrectable
    Inactive Uncorrectable Error | remapped_row_unc_inactive
    Pending | remapped_row_pending | remapped_rows.pending
    Remapping Failure Occurred | remapped_row_failure | remapped_rows.failure
    Bank Remap Availability Histogram | row_remapper_histogram
        Max | row_remapper_histogram_max
        High | row_remapper_histogram_high
        Partial | row_remapper_histogram_partial
        Low | row_remapper_histogram_low
        None | row_remapper_histogram_none
Temperature | temperature | | TEMPERATURE
    GPU Current Temp | gpu_temp | temperature.gpu
    GPU T.Limit Temp | gpu_temp_tlimit | temperature.gpu.tlimit
    GPU Shutdown Temp | gpu_temp_max_threshold | temperature.shutdown
    GPU Slowdown Temp | gpu_temp_slow_threshold | temperature.slowdown
    GPU Max Operating Temp | gpu_temp_max_gpu_threshold | temperature.gpu_max
    GPU Target Temperature | gpu_target_temperature
    Memory Current Temp | memory_temp | temperature.memory
    Memory Max Operating Temp | gpu_temp_max_mem_threshold | temperature.memory_max
Supported GPU_TARGET_TEMP | supported_gpu_target_temp | | SUPPORTED_GPU_TARGET_TEMP only
    Min | gpu_target_temp_min
    Max | gpu_target_temp_max
GPU Power Readings | gpu_power_readings | | POWER
    Average Power Draw | average_power_draw | power.draw
    Instantaneous Power Draw | instant_power_draw | power.draw.instant
    Current Power Limit | current_power_limit | enforced.power.limit
    Requested Power Limit | requested_power_limit | power.limit
    Default Power Limit | default_power_limit | power.default_limit
    Min Power Limit | min_power_limit | power.min_limit
    Max Power Limit | max_power_limit | power.max_limit
Power Samples | | samples | POWER only
GPU Memory Power Readings~ | gpu_memory_power_readings | | POWER
    Average Power Draw | average_power_draw
    Instantaneous Power Draw | instant_power_draw
Module Power Readings | module_power_readings | | POWER
    Average Power Draw | average_power_draw
    Instantaneous Power Draw | instant_power_draw
    Current Power Limit | current_power_limit
    Requested Power Limit | requested_power_limit
    Default Power Limit | default_power_limit
    Min Power Limit | min_power_limit
    Max Power Limit | max_power_limit
Power Smoothing | power_smoothing | | POWER_SMOOTHING
Workload Power Profiles | power_profiles | | POWER_PROFILES
    Requested Profiles | power_profile_requested_profiles
    Enforced Profiles | power_profile_enforced_profiles
EDPp Multiplier | edpp_multiplier
Clocks | clocks | | CLOCK
    Graphics | graphics_clock | clocks.current.graphics
    SM | sm_clock | clocks.current.sm
    Memory | mem_clock | clocks.current.memory
    Video | video_clock | clocks.current.video
Applications Clocks | applications_clocks | | CLOCK
    Graphics | graphics_clock | clocks.applications.graphics
    Memory | mem_clock | clocks.applications.memory
Default Applications Clocks | default_applications_clocks | | CLOCK
    Graphics | graphics_clock | clocks.default_applications.graphics
    Memory | mem_clock | clocks.default_applications.memory
Deferred Clocks | deferred_clocks | | CLOCK
    Memory | mem_clock
Max Clocks | max_clocks | | CLOCK
    Graphics | graphics_clock | clocks.max.graphics
    SM | sm_clock | clocks.max.sm
    Memory | mem_clock | clocks.max.memory
    Video | video_clock | clocks.max.video
Max Customer Boost Clocks | max_customer_boost_clocks | | CLOCK
    Graphics | graphics_clock
SM Clock Samples | | samples | CLOCK only
Memory Clock Samples | | samples | CLOCK only
Clock Policy | clock_policy | | CLOCK
    Auto Boost | auto_boost
    Auto Boost Default | auto_boost_default
Voltage | voltage | | VOLTAGE only
    Graphics | graphics_volt | power.voltage
Fabric | fabric
    State | state
    Status | status
    CliqueId | cliqueId
    ClusterUUID | clusterUuid
    Health | health
        Summary | summary
        Bandwidth | bandwidth
        Route Recovery in progress | route_recovery_in_progress
        Route Unhealthy | route_unhealthy
        Access Timeout Recovery | access_timeout_recovery
        Incorrect Configuration | incorrect_configuration
        Partition Assigned | partition_assigned
Supported Clocks | supported_clocks | | SUPPORTED_CLOCKS only
Processes | processes | | PIDS
Accounted Processes | accounted_processes | none | ACCOUNTING only
Capabilities | capabilities
    EGM | egm
"""  # noqa: E501
