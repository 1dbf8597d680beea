/* libmicrohttpd, loaded when an agent begins to serve: with it come libraries for TLS, which take
 * half of the time that any other command needs to start. */
#ifndef BRIM_DAEMON_HTTP_LIBRARY_H
#define BRIM_DAEMON_HTTP_LIBRARY_H
#include <microhttpd.h>

#include "base/err.h"

/* Its functions, by their own types: MHD_run() is run(). */
struct mhd {
    __typeof__(&MHD_add_response_header) add_response_header;
    __typeof__(&MHD_create_response_from_buffer) create_response_from_buffer;
    __typeof__(&MHD_create_response_from_callback) create_response_from_callback;
    __typeof__(&MHD_destroy_response) destroy_response;
    __typeof__(&MHD_get_connection_info) get_connection_info;
    __typeof__(&MHD_get_daemon_info) get_daemon_info;
    __typeof__(&MHD_get_timeout) get_timeout;
    __typeof__(&MHD_lookup_connection_value) lookup_connection_value;
    __typeof__(&MHD_queue_response) queue_response;
    __typeof__(&MHD_resume_connection) resume_connection;
    __typeof__(&MHD_run) run;
    __typeof__(&MHD_start_daemon) start_daemon;
    __typeof__(&MHD_stop_daemon) stop_daemon;
    __typeof__(&MHD_suspend_connection) suspend_connection;
};

/* Load it, for as long as the process runs. 0, or -ENOENT with a sentence: it is not installed. */
int mhd_load(struct mhd *ret, struct err *e) CHECK_RESULT;

#endif
