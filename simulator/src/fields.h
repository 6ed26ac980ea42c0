/* The shapes that a profile's values have once they are read. */

#ifndef SIM_FIELDS_H
#define SIM_FIELDS_H

#include "base.h"

#define SIM_TEXT_SIZE    256
#define SIM_LIST_SIZE    64
#define SIM_MAX_DISPLAYS 16
#define SIM_MAX_PAGES    64
#define SIM_UNCONNECTED  UINT32_MAX

/* Bytes as the profile gives them; they may hold anything, NUL included. */
struct text {
    unsigned int length;
    char bytes[SIM_TEXT_SIZE];
};

struct list {
    unsigned int count;
    uint32_t values[SIM_LIST_SIZE];
};

struct display {
    unsigned int type;
    unsigned int width;
    unsigned int height;
    float refresh_rate;
};

struct displays {
    unsigned int count;
    struct display values[SIM_MAX_DISPLAYS];
};

struct sessions {
    unsigned int count;
    MtmlCodecSessionMetrics values[SIM_LIST_SIZE];
    MtmlCodecSessionState states[SIM_LIST_SIZE];
};

struct pages {
    unsigned int count;
    struct {
        uint64_t address;
        uint64_t timestamp;
    } values[SIM_MAX_PAGES];
};

/* A device that stops answering with RESULT after AFTER calls. */
struct loss {
    MtmlReturn result;
    uint64_t after;
};

struct capability {
    int major;
    int minor;
};

/* A list that is shorter than what it describes repeats its last value; an empty one stands for OTHERWISE. */
uint32_t list_value(const struct list *list, unsigned int index, uint32_t otherwise);

/* Whether a comma-separated text has this word. */
bool text_has_word(const struct text *text, const char *word);

#endif
