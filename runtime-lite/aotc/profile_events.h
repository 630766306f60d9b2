/* Marks on a stream in front of the steps of a run and behind them, as an instance of a CUDA model
 * that was compiled with --profile holds them. C99 and C++, without CUDA's headers. */
#ifndef AOTC_PROFILE_EVENTS_H_
#define AOTC_PROFILE_EVENTS_H_

#include "aotc/profile.h"

struct CUevent_st;

/* Steps that are marked before the run waits to tell of them: few enough to make when an instance
 * is created, so many that the models of most runs never wait. */
#define AOTC_PROFILE_STEPS 256

typedef struct aotc_profile_events {
  const aotc_profile *profile; /* who is told of the run that is queued, or NULL */
  struct CUevent_st *start;    /* of the run */
  struct CUevent_st *begin[AOTC_PROFILE_STEPS], *end[AOTC_PROFILE_STEPS];
  int32_t steps[AOTC_PROFILE_STEPS];
  int32_t count; /* of steps that nobody was told of */
} aotc_profile_events;

#endif /* AOTC_PROFILE_EVENTS_H_ */
