/* SPDX-License-Identifier: MIT */
/*
 * usage.h - help texts of kunwind record and kunwind profile
 */
#ifndef KUNWIND_RECORD_USAGE_H
#define KUNWIND_RECORD_USAGE_H

extern const char record_usage[], record_profile_usage[];

#endif /* KUNWIND_RECORD_USAGE_H */
