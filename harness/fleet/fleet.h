/* fleet/fleet.h: `lockstep fleet`: the verdicts of many nodes, side by side.
 *
 * The main program needs fleet_main only; the rest is shared by the files of this room. The way of
 * the data: expect.c reads the names that should be there, folder.c finds the files and makes one
 * node of each name, verdict.c, limits.c and steps.c read them, drift.c and outliers.c compare the
 * nodes, answer.c says what to do, and write.c, json.c and page.c write the result.
 *
 * Files are input: an error in one makes its node BROKEN, and no other. A node
 * passes only if its own verdict is ACCEPTED by the limits that most of the fleet has, no other
 * file claims its name or its run, and no number of it is far worse than that of the others. */
#ifndef HARNESS_FLEET_H
#define HARNESS_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "text/text.h"
#include "validate/validate.h"

/* The subcommand. It returns the exit status, see --help. */
int fleet_main(int argc, char **argv);

enum { FLEET_EXIT_NOT_SHOWN = 3 };

/* The largest of each. */
enum {
    FLEET_NODES = 2000,     /* files */
    FLEET_EXPECTED = 10000, /* names */
    FLEET_NAME = 256,       /* bytes of a name, with the 0 */
    FLEET_FACTS = 512,      /* of a verdict */
    FLEET_LIMITS = 256,     /* of a verdict */
    FLEET_DEVICES = 64,     /* of a limit */
    FLEET_TEXT = 512,
    FLEET_CAUSE = 96,
    FLEET_VALUE = 176 /* of a fact, as it is shown */
};

enum fleet_status {
    FLEET_ACCEPTED,
    FLEET_REJECTED,
    FLEET_NOT_SHOWN,
    FLEET_BROKEN,  /* its file says nothing that can be believed, and why */
    FLEET_MISSING, /* it has no verdict */
    FLEET_STATUSES
};
extern const char *const fleet_status_words[FLEET_STATUSES];

/* The steps of docs/accept/validate.sbatch before the verdict. The first two show that a node
 * computes right. */
enum { FLEET_TESTS = 5 };
extern const char *const fleet_tests[FLEET_TESTS];

/* Values that no two nodes may have in common. */
enum { FLEET_RUN, FLEET_START, FLEET_SAMPLES, FLEET_IDENTITIES, FLEET_IDENTITY = 65 };

/* A fact of a verdict about its machine, program or profile. */
struct fleet_fact {
    char *what, *value;
};

/* A number that nodes have in common, as a limit is about. */
struct fleet_limit {
    char *name; /* "step_time floor of mlp dp virt:2, 256 rows" */
    enum quantity_kind kind;
    int worse; /* 1: more is, -1: less is, 0: either */
    const struct validate_metric *row;
};

struct fleet_number {
    uint16_t limit; /* of the node */
    int16_t device; /* -1: of the node as a whole, or of its worst device */
    double value;   /* finite, not negative */
    double lo, hi;  /* its interval; value where there is none */
};

struct fleet_node {
    char name[FLEET_NAME], file[FLEET_NAME];         /* file "": it has none */
    char identity[FLEET_IDENTITIES][FLEET_IDENTITY]; /* "": the file is of an older version */
    bool nameable;                                   /* the name may stand in a list of nodes */
    bool expected;
    bool copied;             /* another node has an identity of it */
    bool absolute;           /* a binding limit on its speed was not learned from machines */
    bool judged;             /* a binding limit is on its speed */
    bool unjudged;           /* its soak judged no speed */
    bool lacks[FLEET_TESTS]; /* steps that it has not passed; false: no steps of it are known */
    bool untested; /* ACCEPTED, but nothing shows that it computes right: it is NOT SHOWN */
    bool starved;  /* memory or descriptors were short when its file was read */
    enum fleet_status status;
    char why[FLEET_TEXT];    /* the first reason of all but ACCEPTED */
    char cause[FLEET_CAUSE]; /* the same in few words: "step_time" */
    char far[FLEET_CAUSE];   /* REJECTED: how far that is from its limit, "" if it has no number */
    char shown[FLEET_TEXT];  /* the likely cause that the limit which FAILs shows; "": none FAILs */
    char action[FLEET_TEXT]; /* what its verdict says is to be done */
    char steps[FLEET_TEXT];  /* "devices ok, check FAILED (1)"; "": they are not known */
    struct fleet_fact *fact;
    struct fleet_limit *limit;
    struct fleet_number *number;
    size_t n_facts, n_limits, n_numbers;
    size_t drifts, worse, better; /* outlying numbers */
    size_t compared;              /* numbers */
    double lag; /* of these, how much worse the worst is than the median: a logarithm */
    const struct fleet_outlier *worst; /* NULL: none is outlying and worse */
};

/* A node that differs from more than half of the nodes. */
struct fleet_drift {
    const struct fleet_node *node;
    const char *what, *value, *majority; /* a value that is NULL is not known */
    bool decides;                        /* it is about what the verdict is worth */
};

/* A fact that has no value of more than half of the nodes. */
struct fleet_split {
    const char *what, *most;
    size_t values, have; /* different ones; nodes that have most */
    bool decides;
};

struct fleet_outlier {
    const struct fleet_node *node;
    const struct fleet_limit *limit;
    int device;                   /* -1: none */
    double value, median, lo, hi; /* lo, hi: where numbers like the others are */
    size_t nodes;                 /* that were compared */
    bool is_worse;
};

/* The facts that say what the verdicts are of, and as text the words before each. */
enum { FLEET_BASIS = 5 };
extern const struct fleet_basis {
    const char *what, *before;
} fleet_basis[FLEET_BASIS];

struct fleet_rule {
    size_t series, small, comparisons; /* small: of fewer nodes than can be compared */
    size_t nodes;                      /* that were compared in a series, at most */
    size_t relative;                   /* nodes that pass without an absolute limit */
};

struct fleet {
    const char *folder;
    bool linked; /* the page is in this folder */
    struct fleet_node *node;
    size_t n, count[FLEET_STATUSES], outlying, unexpected;
    bool expects;
    struct fleet_drift *drift;
    struct fleet_split *split;
    struct fleet_outlier *outlier;
    size_t n_drifts, n_splits, n_outliers;
    struct fleet_rule rule;
    const char *basis[FLEET_BASIS]; /* what most nodes have; NULL: it is not known */
    const char *first, *last;       /* dates, as members of verdicts */
};

/* ---- what is read ------------------------------------------------------------------------- */

/* Whether a name can be given to a scheduler: letters, digits, ".", "_" and "-", the first a letter
 * or a digit. */
bool fleet_name_is_safe(const char *name);

/* One node for each *.json of the folder, read. 0, or -1 and why: the folder cannot be read or has
 * too many. Caller: fleet_free, in any case. */
int fleet_read(const char *folder, struct fleet *fleet, struct text_error *why);
void fleet_free(struct fleet *fleet);
/* Frees facts, limits and numbers; name and status stay. */
void fleet_node_free(struct fleet_node *node);

/* A verdict of `lockstep validate`: name, status, facts and numbers. 0, or -1 and why. */
struct json_t;
int fleet_verdict(const struct json_t *root, struct fleet_node *node, struct text_error *why);
/* The verdict of a limit or of cases by its word; VALIDATE_VERDICTS: it is not known. */
enum validate_verdict fleet_find_verdict(const char *word);
/* Its limits: each is judged again from its numbers, and the status from all of them and from the
 * verdict of the cases. What is against that is refused. 0, or -1 and why. */
int fleet_limits(const struct json_t *root, enum validate_verdict cases, struct fleet_node *node,
                 struct text_error *why);
/* One more fact; the texts are copied. 0, or -1 and why. */
int fleet_add_fact(struct fleet_node *node, const char *what, const char *value,
                   struct text_error *why);
/* The steps of a node that has its status by its verdict, or is MISSING: one that failed changes
 * it, and so does it if no step and no case tested its numbers. 0, also if there is no such file;
 * or -1 and why. */
int fleet_steps(const char *path, struct fleet_node *node, struct text_error *why);

/* Names, one a line; "node[001-256,300]" is as many. 0, or -1 and why: FILE:LINE. The caller frees
 * each name and the list. */
struct fleet_names {
    char **name;
    size_t n;
};
int fleet_expect(const char *path, struct fleet_names *names, struct text_error *why);
int fleet_expect_text(const char *text, const char *path, struct fleet_names *names,
                      struct text_error *why);
/* A small text file: the caller frees it. NULL and why. */
char *fleet_read_text(const char *path, struct text_error *why);
void fleet_names_free(struct fleet_names *names);

/* ---- what is judged ----------------------------------------------------------------------- */

/* One node a name, in their order. names NULL: no node is expected. */
void fleet_join(struct fleet *fleet, const struct fleet_names *names);
void fleet_find_drift(struct fleet *fleet);
void fleet_find_outliers(struct fleet *fleet);
/* Counts, when all is known. */
void fleet_count(struct fleet *fleet);
bool fleet_passes(const struct fleet_node *node);
int fleet_exit(const struct fleet *fleet);

/* ---- what is written ---------------------------------------------------------------------- */

/* "256 nodes: 255 ACCEPTED, 1 REJECTED; 2 outlying" */
void fleet_count_words(const struct fleet *fleet, char text[FLEET_TEXT]);
/* "By profile my-node, SHA-256 3f2a91c04b7e, .. Measured 2026-11-23T10:00:01Z to .." */
void fleet_basis_words(const struct fleet *fleet, char text[2 * FLEET_TEXT]);
/* A fact of a node; "": it is not known. */
const char *fleet_fact_of(const struct fleet_node *node, const char *what);
/* Returns what to do, in three sentences at most: "Take out 3 of 33: ..". The
 * caller frees it. */
char *fleet_answer(const struct fleet *fleet);
/* "step_time 26 % longer than the others, device 2" */
void fleet_worse_words(const struct fleet_outlier *outlier, char text[], size_t bytes);
/* The likely cause of what is bad in a node, and what to do: "likely cause: ..; do: .." or "". A
 * cause is what the limit that FAILs shows by itself, or else a number of the node that is
 * outlying. What its verdict says of causes does not know the other nodes. */
void fleet_advice_words(const struct fleet_node *node, char text[2 * FLEET_TEXT]);
/* Why a node does not pass, and that, "" if it does; and its status. */
void fleet_node_words(const struct fleet_node *node, char text[2 * FLEET_TEXT]);
const char *fleet_state_words(const struct fleet_node *node);
/* The file of a node next to the page; "": there is none, or its name is not for an address. */
const char *fleet_node_link(const struct fleet *fleet, const struct fleet_node *node);
/* Writes a value; of a digest or a commit the first 12 digits: they tell it. */
const char *fleet_value_words(const char *value, char text[FLEET_VALUE]);
/* Writes how a node differs from most nodes, "" if it does not. Returns whether it decides. */
bool fleet_differences_words(const struct fleet *fleet, const struct fleet_node *node,
                             char text[2 * FLEET_TEXT]);
/* " (of those that pass, none ran copies; soak judged no speed on 3)"; "": all was done. */
void fleet_unjudged_words(const struct fleet *fleet, char text[FLEET_TEXT]);
void fleet_outlier_words(const struct fleet_outlier *outlier, char text[2 * FLEET_TEXT]);
void fleet_rule_words(const struct fleet *fleet, char text[2 * FLEET_TEXT]);

/* The lists, in the order of text. */
enum fleet_list {
    FLEET_LIST_REJECTED,
    FLEET_LIST_BROKEN,
    FLEET_LIST_MISSING,
    FLEET_LIST_NOT_SHOWN,
    FLEET_LIST_OUTLIERS,
    FLEET_LIST_DRIFT,
    FLEET_LIST_SPLITS,
    FLEET_LIST_UNEXPECTED,
    FLEET_LISTS
};
struct fleet_item {
    size_t at;        /* of the next one; 0 at first */
    const char *name; /* of its node; "": it is of no node */
    bool failed;
    char words[2 * FLEET_TEXT];
};
/* Fills the next item of the list; false: there is none. */
bool fleet_next(const struct fleet *fleet, enum fleet_list list, struct fleet_item *item);

void fleet_text(FILE *stream, const struct fleet *fleet);
void fleet_json(FILE *stream, const struct fleet *fleet); /* lockstep/fleet/1.0 */
void fleet_csv(FILE *stream, const struct fleet *fleet);
void fleet_markdown(FILE *stream, const struct fleet *fleet);
/* Makes the folder of what is written, and removes what an earlier fleet left there: its nodes
 * would pass for those of today if this fleet cannot be judged. 0, or -1 and why. */
int fleet_clear(const char *folder, struct text_error *why);
/* passing_nodes.txt and failing_nodes.txt. 0, or -1 and why. */
int fleet_lists(const char *folder, const struct fleet *fleet, struct text_error *why);
/* The tables of the page, or of the summary of a job. */
struct text_out;
void fleet_tables(struct text_out *out, const struct fleet *fleet);
/* index.html, in a folder that is there. 0, or -1 and why. */
int fleet_page(const char *folder, const struct fleet *fleet, struct text_error *why);

#endif
