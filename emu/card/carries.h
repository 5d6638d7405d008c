/*
 * What somebody may depend on when a device is changed: the default route, and the SSH session
 * that the program was started from.
 */
#pragma once

#include "emu/card/device.h"

#define CARRIES_TEXT 128

/*
 * Puts into text what the device carries, by itself or below a bridge, bond or VLAN: "the default
 * route", "your SSH session from 192.0.2.1", both, or "". The session is that of SSH_CONNECTION
 * here or in a process above this one (sudo takes it out). STATUS_MACHINE.
 */
int carries_what(char text[static CARRIES_TEXT], const struct devices *all, const struct device *d,
	struct nl_sock *sock, struct error *err);

/* Whether what leaves by the device `by` passes the device `d`. */
bool carries_through(const struct devices *all, int by, int d);
