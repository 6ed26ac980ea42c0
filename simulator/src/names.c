/* Names for the values of the header's enumerations. */

#include "names.h"

#include "functions.h"

const struct name_value return_names[] = {
    {"OK", MTML_SUCCESS},
    {"DRIVER_NOT_LOADED", MTML_ERROR_DRIVER_NOT_LOADED},
    {"DRIVER_FAILURE", MTML_ERROR_DRIVER_FAILURE},
    {"INVALID_ARGUMENT", MTML_ERROR_INVALID_ARGUMENT},
    {"NOT_SUPPORTED", MTML_ERROR_NOT_SUPPORTED},
    {"NO_PERMISSION", MTML_ERROR_NO_PERMISSION},
    {"INSUFFICIENT_SIZE", MTML_ERROR_INSUFFICIENT_SIZE},
    {"NOT_FOUND", MTML_ERROR_NOT_FOUND},
    {"INSUFFICIENT_MEMORY", MTML_ERROR_INSUFFICIENT_MEMORY},
    {"DRIVER_TOO_OLD", MTML_ERROR_DRIVER_TOO_OLD},
    {"DRIVER_TOO_NEW", MTML_ERROR_DRIVER_TOO_NEW},
    {"TIMEOUT", MTML_ERROR_TIMEOUT},
    {"RESOURCE_IS_BUSY", MTML_ERROR_RESOURCE_IS_BUSY},
    {"UNKNOWN", MTML_ERROR_UNKNOWN},
    {NULL, 0},
};

const struct name_value codec_names[] = {
    {"AVC", MTML_CODEC_TYPE_AVC},     {"VC1", MTML_CODEC_TYPE_VC1},     {"MPEG2", MTML_CODEC_TYPE_MPEG2},
    {"MPEG4", MTML_CODEC_TYPE_MPEG4}, {"H263", MTML_CODEC_TYPE_H263},   {"DIV3", MTML_CODEC_TYPE_DIV3},
    {"RV", MTML_CODEC_TYPE_RV},       {"AVS", MTML_CODEC_TYPE_AVS},     {"RSVD1", MTML_CODEC_TYPE_RSVD1},
    {"THO", MTML_CODEC_TYPE_THO},     {"VP3", MTML_CODEC_TYPE_VP3},     {"VP8", MTML_CODEC_TYPE_VP8},
    {"HEVC", MTML_CODEC_TYPE_HEVC},   {"VP9", MTML_CODEC_TYPE_VP9},     {"AVS2", MTML_CODEC_TYPE_AVS2},
    {"RSVD2", MTML_CODEC_TYPE_RSVD2}, {"AV1", MTML_CODEC_TYPE_AV1},     {NULL, 0},
};

const struct name_value session_state_names[] = {
    {"UNKNOWN", (unsigned int)MTML_CODEC_SESSION_STATE_UNKNOWN},
    {"IDLE", MTML_CODEC_SESSION_STATE_IDLE},
    {"ACTIVE", MTML_CODEC_SESSION_STATE_ACTIVE},
    {NULL, 0},
};

const struct name_value display_names[] = {
    {"DP", MTML_DISP_INTF_TYPE_DP},     {"EDP", MTML_DISP_INTF_TYPE_EDP},   {"VGA", MTML_DISP_INTF_TYPE_VGA},
    {"HDMI", MTML_DISP_INTF_TYPE_HDMI}, {"LVDS", MTML_DISP_INTF_TYPE_LVDS}, {NULL, 0},
};

const struct name_value brand_names[] = {
    {"MTT", MTML_BRAND_MTT},
    {"UNKNOWN", MTML_BRAND_UNKNOWN},
    {NULL, 0},
};

const struct name_value generation_names[] = {
#define X(name) {#name, GENERATION_##name},
    SIM_GENERATIONS(X)
#undef X
    {NULL, 0},
};

const struct name_value memory_type_names[] = {
    {"LPDDR4", MTML_MEM_TYPE_LPDDR4},
    {"GDDR6", MTML_MEM_TYPE_GDDR6},
    {NULL, 0},
};

const struct name_value mode_names[] = {
    {"DISABLE", 0},
    {"ENABLE", 1},
    {NULL, 0},
};

const struct name_value link_state_names[] = {
    {"DOWN", MTML_MTLINK_STATE_DOWN},
    {"UP", MTML_MTLINK_STATE_UP},
    {"DOWNGRADE", MTML_MTLINK_STATE_DOWNGRADE},
    {NULL, 0},
};

const struct name_value link_status_names[] = {
    {"NOT_SUPPORTED", MTML_MTLINK_CAP_STATUS_NOT_SUPPORTED},
    {"OK", MTML_MTLINK_CAP_STATUS_OK},
    {NULL, 0},
};

const struct name_value level_names[] = {
    {"INTERNAL", MTML_TOPOLOGY_INTERNAL}, {"SINGLE", MTML_TOPOLOGY_SINGLE},
    {"MULTIPLE", MTML_TOPOLOGY_MULTIPLE}, {"HOSTBRIDGE", MTML_TOPOLOGY_HOSTBRIDGE},
    {"NODE", MTML_TOPOLOGY_NODE},         {"SYSTEM", MTML_TOPOLOGY_SYSTEM},
    {NULL, 0},
};

const struct name_value p2p_names[] = {
    {"OK", MTML_P2P_STATUS_OK},
    {"CHIPSET_NOT_SUPPORTED", MTML_P2P_STATUS_CHIPSET_NOT_SUPPORTED},
    {"GPU_NOT_SUPPORTED", MTML_P2P_STATUS_GPU_NOT_SUPPORTED},
    {"UNKNOWN", MTML_P2P_STATUS_UNKNOWN},
    {NULL, 0},
};

const struct name_value role_names[] = {
    {"NONE", MTML_VIRT_ROLE_NONE},
    {"HOST_VIRTDEVICE", MTML_VIRT_ROLE_HOST_VIRTDEVICE},
    {"GUEST_VIRTDEVICE", MTML_VIRT_ROLE_GUEST_VIRTDEVICE},
    {NULL, 0},
};

const char *name_of(const struct name_value *names, unsigned int value)
{
    for (; names->name; names++)
        if (names->value == value)
            return names->name;
    return NULL;
}
