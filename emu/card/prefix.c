/* Address ranges; see prefix.h. */
#include "emu/card/prefix.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int prefix_bits(int family)
{
	return family == AF_INET6 ? 128 : 32;
}

/* Clears what is beyond the length; true when something was there. */
static bool cut(struct prefix *p)
{
	bool more = false;

	for (int i = 0; i < (int)sizeof p->address; i++) {
		int bits = p->length - 8 * i;
		uint8_t mask = bits >= 8 ? 0xff : bits <= 0 ? 0 : (uint8_t)(0xff << (8 - bits));

		more |= p->address[i] & ~mask;
		p->address[i] &= mask;
	}
	return more;
}

static int parse_length(struct prefix *p, const char *text, const char *length, struct error *err)
{
	int most = prefix_bits(p->family);
	char *end;
	long n;

	p->length = most;
	if (!length)
		return 0;
	errno = 0;
	n = strtol(length, &end, 10);
	if (*length < '0' || *length > '9' || *end || errno || n > most)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"\"%.64s\": the length of an IPv%d prefix is a number from 0 to %d", text,
			p->family == AF_INET6 ? 6 : 4, most);
	p->length = (int)n;
	return 0;
}

int prefix_parse(struct prefix *out, const char *text, struct error *err)
{
	const char *slash = strchr(text, '/');
	char address[INET6_ADDRSTRLEN] = "", right[PREFIX_TEXT];
	struct prefix p = {.family = strchr(text, ':') ? AF_INET6 : AF_INET};
	size_t n = slash ? (size_t)(slash - text) : strlen(text);
	int r;

	if (n < sizeof address)
		memcpy(address, text, n);
	if (inet_pton(p.family, address, p.address) != 1)
		return error_set(err, -EINVAL, STATUS_INPUT,
			"\"%.64s\" is no range of addresses; write e.g. 10.0.0.0/8 or "
			"2001:db8::/32",
			text);
	r = parse_length(&p, text, slash ? slash + 1 : NULL, err);
	if (r == 0 && cut(&p))
		return error_set(err, -EINVAL, STATUS_INPUT,
			"\"%.64s\" has bits beyond its length; write %s, or /%d for one host", text,
			prefix_format(right, &p), prefix_bits(p.family));
	if (r == 0)
		*out = p;
	return r;
}

char *prefix_format(char text[static PREFIX_TEXT], const struct prefix *p)
{
	char address[INET6_ADDRSTRLEN] = "";

	inet_ntop(p->family, p->address, address, sizeof address);
	snprintf(text, PREFIX_TEXT, "%s/%d", address, p->length);
	return text;
}
