/* What the files of a board share. */
#ifndef BRIM_CONTROL_BOARD_BOARD_PRIVATE_H
#define BRIM_CONTROL_BOARD_BOARD_PRIVATE_H
#include "control/board/board.h"

/* Sum up by account and user what jobs have and want (board_parties.c). 0 or -ENOMEM. */
int board_sum_parties(struct board *b, const struct control_seen *seen) CHECK_RESULT;

/* The jobs that wait, and why (board_queue.c). 0 or -ENOMEM. */
int board_line_up(struct board *b) CHECK_RESULT;

/* What stands between these in the text is about that user (board_cut.c). 0 or -ENOMEM. */
int board_span(struct board *b, uint32_t uid, size_t from, size_t to) CHECK_RESULT;

/* What limits those that run (board_runs.c). */
void board_find_runs(struct board *b, const struct control_answers *answers);

/* Devices that jobs may have, by kind. */
struct board_room {
    int64_t nodes_with[BOARD_KINDS][SITE_DEVICES + 1]; /* nodes: so many free ones, at least */
    int64_t free[BOARD_KINDS];
};

/* Tell of each free one why it is (board_queue.c). */
void board_share_out(struct board *b, const struct board_room *room);

#endif
