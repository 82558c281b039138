"""Everything that the collection says to people, by name, in English.

``refusals`` raises most of it. The pages' catalogue has the same names with the same gaps in other languages; the
command line prints what stands here.
"""

from __future__ import annotations

from collections.abc import Iterable

from goldlabel.messages import Message, Word
from goldlabel.registry import closest

ENGLISH = {
    "did_you_mean": "did you mean '{name}'? allowed: {allowed}",
    "allowed": "allowed: {allowed}",
    "password_length": "the password has {n} characters; allowed: {shortest} to {longest}",
    "login_taken": "this login is taken; choose another",
    "wrong_login": "login or password is wrong; try again, or ask the requester for a new password",
    "contact_length": "the contact has {n} characters; allowed: up to {longest}",
    "pass_over": "this link was used before or its time is over; ask for a new one",
    "reset_elsewhere": "this person has a role in a project of others, or may make projects; only who runs the server "
    "can give them a new password, by goldlabel collect password",
    "factor_there": "the second factor is on already; turn it off first",
    "no_factor": "there is no second factor to confirm; begin with a new one",
    "wrong_code": "the code is wrong or was used before; wait for the next one and try again",
    "no_login": "there is no account with the login '{login}'; logins are what people chose when they joined",
    "no_account": "there is no such account",
    "login_form": "a login has 1 to {longest} characters and no spaces; choose another",
    "token_name": "a token's name has 1 to {longest} characters; give it one by which you will know it",
    "token_scopes": "a token is for one or both of what you do here; allowed: {allowed}",
    "token_most": "you have {most} tokens; withdraw one before you make another",
    "no_token": "there is no such token, or it is withdrawn already",
    "needs_scope": "this token is not for work as {scope}; make one that is on your account page",
    "key_reused": "the key '{key}' was used for another request; make up a new one",
    "too_many_tries": "too many tries; try again in {seconds} s",
    "invite_for_requesters": "an invitation without a project is for a requester, not for a {role}; name the project",
    "invite_bounds": "an invitation needs at least one use and some time; give both above 0",
    "invite_unknown": "there is no such invitation; check that the link is complete, or ask for a new one",
    "invite_over": "this invitation is used up or its time is over; ask for a new one",
    "no_invite": "there is no such invitation",
    "no_member": "there is no such {role} in this project",
    "no_person": "there is no such person in this project",
    "member_state": "a member cannot be '{state}'; allowed: {allowed}",
    "member_removed": "you were removed from this project; ask its requester to let you in again",
    "last_requester": "project '{name}' has no other active requester; make somebody else one first",
    "requester_paused": "your role as requester of this project is paused; ask its other requesters",
    "needs_role": "this is for a {role} of the project; ask the requester for the role",
    "either": "{one} or {other}",
    "no_role": "there is no role '{role}'; allowed: {allowed}",
    "nobody_writes": "nobody writes in a project of kind '{kind}'; invite verifiers",
    "writers_only": "a condition, and being exclusive to test, is for writers, not for a {role}",
    "requesters_only": "only requesters may make projects; ask one of them for an invitation",
    "no_project": "there is no project {name}",
    "no_project_named": "there is no project '{name}'",
    "project_name_length": "a project's name has {n} characters; allowed: 1 to {longest}",
    "project_name_taken": "there is a project '{name}' already; choose another name",
    "project_state": "a project cannot be '{state}'; allowed: {allowed}",
    "no_premises_taken": "project '{name}' is of kind '{kind}': nobody writes in it; import pairs instead",
    "origin": "pairs cannot be imported as '{origin}'; allowed: {allowed}",
    "pairs_are_written": "the pairs of project '{name}' are written in it; import pairs as foreign or gold",
    "pair_at": "pair {n} ({id})",
    "pair_label": "pair {n} ({id}): label '{label}' is not one of {labels}; nothing was imported",
    "pair_empty": "pair {n} ({id}): {name} is empty; nothing was imported",
    "pair_long": "pair {n} ({id}): {name} is longer than {longest} characters; nothing was imported",
    "import_stopped": "{added} of {read} were added, then the database refused ({reason}); import the same file again: "
    "what is there already is left out",
    "condition_stays": "condition '{name}' cannot be taken away, as people work in it; pause its writers instead",
    "no_condition_chosen": "no condition is chosen; choose one or more",
    "no_pair": "there is no such pair in this project",
    "no_premise": "there is no such given sentence in this project",
    "visibility": "this cannot be '{state}'; allowed: {allowed}",
    "deleted_for_good": "this was deleted and cannot be shown again; add it anew",
    "text_length": "the text has {n} characters; allowed: {shortest} to {longest}",
    "text_given": "somebody was given this text, and answers about it must stay true; hide it and add a better one",
    "label_of_author": "this label is the author's own answer and stays; hide the pair if it is wrong",
    "label_unknown": "label '{label}' is not one of {labels}",
    "votes_decide": "the votes on this pair are not complete, or they decide it; decide pairs without a label only",
    "no_condition": "there is no condition '{name}' in this project; {hint}",
    "no_such_condition": "there is no condition '{name}'; {hint}",
    "no_protocol": "there is no protocol '{name}'; {hint}",
    "no_language": "there is no protocol for language '{language}'; {hint}",
    "setting_stays": "setting '{name}' is '{old}' and cannot become '{new}'; make a new project for it",
    "setting": "setting '{setting}' is {value}; allowed: {allowed}",
    "setting_unknown": "there is no setting '{name}' in {where}; {hint}",
    "setting_missing": "setting '{setting}' is missing; give it",
    "setting_pattern": "setting '{setting}' is {value}, which is no pattern ({reason})",
    "text": "text",
    "whole_number": "a whole number",
    "number": "a number",
    "true_or_false": "true or false",
    "amount": "an amount such as 0.30, up to {most}",
    "list": "a list",
    "object": "an object",
    "settings": "an object of settings",
    "from_to": "{low} to {high}",
    "from_to_or_none": "{low} to {high}, or null for no limit",
    "names": "different names",
    "some_of": "some of {names}",
    "some_not_all_of": "some, not all, of {names}",
    "filled_words": "words that are not empty",
    "currency": "a code such as CNY",
    "one_of": "{names}",
    "one_of_nearest": "{names}; did you mean '{name}'?",
    "some_conditions": "one or more for {kind}",
    "no_conditions": "none for {kind}",
    "field_whole": "{field}: '{text}' cannot be used; give a whole number from {low} to {high}",
    "field_share": "{field}: '{text}' cannot be used; give per cent from {low} to {high}",
    "field_amount": "{field}: '{text}' cannot be used; give an amount from {low} to {high}, such as 0.30",
    "training_examples": "{wanted} training examples are asked for, and there are {n} in {language} for {labels}; "
    "lower the number of training examples, or give more of them",
    "no_instructions": "there are no instructions '{name}'; {hint}",
    "no_text": "there is no text '{name}' in this project",
    "text_empty": "the text is empty; write one, or restore the one that comes with Goldlabel",
    "no_task": "there is no task {id}",
    "key_form": "an answer's key has 1 to {longest} printable characters; send one of your own making",
    "task_skipped": "this task was skipped, so it cannot be answered any more; nothing was changed",
    "task_answered": "this task was answered before, and that answer stands; nothing was changed",
    "task_not_skipped": "this task was answered before, so it cannot be skipped; the answer stands",
    "timings": "{n} times were sent; allowed: {most}",
    "seconds": "the time '{name}' is '{seconds}'; allowed: 0 to {most} seconds",
    "no_work": "there is no work of kind '{kind}'; allowed: {allowed}",
    "answer": "answer '{answer}' is not one of {answers}",
    "no_example": "there is no training example {n}; allowed: 0 to {last}",
    "training_not_failed": "the training is not failed; there is no need for another attempt",
    "no_answer": "there is no answer to take back",
    "undone_before": "the last answer is taken back already; only one can be",
    "undo_late": "the last answer came late and is not counted; there is nothing to take back",
    "undo_last_only": "only the last answer can be taken back; nothing was changed",
    "note_length": "the note has {n} characters; say in 1 to {longest} why it cannot be used",
    "draft_revision": "a draft's revision is {revision}; allowed: 0 to {most}",
    "draft_number": "the draft holds a number that JSON does not know; send text",
    "draft_length": "the draft is longer than {longest} characters; make it shorter",
    "draft_late": "this task is not being written any more; the draft was not kept",
    "try_late": "this task is not being written any more; the try was not kept",
    "try_waits": "the last try waits for the model, or the model got it wrong; there is no need for another",
    "tries_used": "all {n} tries are used up; take the next task",
    "target": "target '{label}' is not one of {allowed}",
    "try_length": "the text has {n} characters; allowed: 1 to {most}",
    "model_answer": "the model's answer has no probability for each of {labels}",
    "slot_twice": "a hypothesis for {label} {level} is given twice in condition '{condition}'; its slots are {slots}",
    "slot_not_asked": "a hypothesis for {label} {level} is not asked for in condition '{condition}'; its slots are "
    "{slots}",
    "slot": "{label} {level}",
    "more_broken": "{first} ({n} more)",
    "rule_missing": "{label} {level}: is missing; write a sentence",
    "rule_empty": "{label} {level}: there is no word in it; write a sentence",
    "rule_short": "{label} {level}: is a single word, which cannot be true or false; write a sentence",
    "rule_long": "{label} {level}: has {characters} characters, and {longest} are allowed; make it shorter",
    "rule_language": "{label} {level}: is not written in the project's language, {language}; write it in that",
    "rule_same_as_premise": "{label} {level}: is the sentence it was written for; write another",
    "rule_same_as_other": "{label} {level}: is the same as {other_label} {other_level}; write another",
    "rule_overlap": "{label} {level}: shares {percent} % with the given sentence, and {allowed} % are allowed: "
    "{shared}; use other words",
    "rule_negator": "{label} {level}: holds {negators}, and at most {allowed} of the sentences that cannot be true "
    "may hold a negator; say it without",
    "not_money": "'{amount}' is no amount of money; allowed: up to {most}, with up to four decimal places, such as "
    "0.30",
    "paid_before": "the ledger has a line '{key}' already; nothing was paid twice",
    "not_by_hand": "a line of kind '{kind}' is not given by hand; allowed: bonus, penalty",
    "line_incomplete": "a bonus or penalty needs an amount above 0, a reason and a key; give all three",
    "key_taken": "the ledger has another line under key '{key}'; choose another key",
    "no_second_reversal": "a reversal is not reversed; give a bonus or a penalty instead",
    "no_line": "there is no such line in this project's ledger",
    "reversal_reason": "a line is taken back for a reason; give one",
    "pay_label": "1 label at {rate} {currency}",
    "pay_written": "written {n} pairs at {rate} {currency}",
    "pay_bonus": "diverse, and no contradiction with a negator: {n} pairs at {rate} {currency}",
    "pay_undone": "taken back",
    "paid_out": "paid out on {date}",
    "paid_out_for": "paid out on {date}: {note}",
    "pay_top_up": "{hours} hours raised to {floor} {currency} an hour",
    "payout_amount": "{amount} cannot be paid out, as {owed} is owed; give an amount above 0 and up to that",
    "no_floor": "the project has no floor of pay for an hour; set one first",
    "pay_withdrawn": "withdrawn by yourself",
    "pay_changed": "changed by yourself",
    "no_such_answer": "there is no such answer of yours in this project",
    "answer_not_counted": "this answer does not count any more, so it cannot be changed; nothing was changed",
    "answer_fixed": "this cannot be changed any more, as others have judged it; nothing was changed",
    "remark_length": "the remark has {n} characters; allowed: 1 to {longest}",
    "no_remark": "there is no such remark in this project",
    "remark_resolved": "this remark is done with already",
    "pay_rejected": "not paid: {reason}",
    "pay_restored": "paid again: a decision was taken back",
    "decision": "work cannot be decided on as '{decision}'; allowed: {allowed}",
    "decision_reason": "work is set aside for a reason, which the person reads; give one",
    "decision_empty": "there is no counted work to set aside there; choose other work or an earlier day",
    "decision_taken_back": "this decision is taken back already",
    "no_decision": "there is no such decision in this project",
    "undo_not_counted": "the last answer does not count any more; there is nothing to take back",
    "no_check": "there is no check {id} in this project",
    "checked_before": "this answer was looked at before, and that verdict stands; reverse its line to take it back",
    "foreign_pairs": "pairs {ids} are not of this answer; allowed: {allowed}",
    "note_missing": "a violation needs a note that tells the writer what is wrong; write one",
    "nothing_given": "there is neither a file nor text; choose a file, or type one sentence a line",
    "file_size": "{file}: is larger than {n} MB; import it in parts",
    "premise_format": "{file}: the format of premises is not known; {hint}",
    "pair_format": "{file}: the format of pairs is not known; allowed: {allowed}",
    "upload": "the upload",
    "no_label_space": "there is no label space '{name}'; {hint}",
    "pairs_unreadable": "{file}: cannot be read as pairs; nothing was imported. In detail: {reason}",
    "upload_unreadable": "{file}: cannot be unpacked; nothing was imported. In detail: {reason}",
    "file_at": "{file} {where}",
    "row_long": "{where}: {column} has {n} characters; allowed: up to {most}",
    "not_utf8": "{file} line {line}: is not UTF-8 (byte 0x{byte}); convert the file to UTF-8",
    "not_csv": "{file} line {line}: is not valid CSV ({error})",
    "not_json": "{file} line {line}: is not valid JSON ({error})",
    "not_object": "{file} {where}: is not a JSON object but {kind}",
    "no_premise_column": "{file} {where}: no column holds the premise among {columns}; name it one of {names}",
    "nothing": "nothing",
    "not_text": "{file} {where}: {column} is not text but {kind}",
    "cells": "{file} line {line}: has {n} columns where the header has {wanted}",
    "column_twice": "{file} line {line}: column '{column}' is there twice; rename one",
    "line": "line {n}",
    "item": "item {n}",
    "left_empty": "empty after cleaning",
    "left_short": "shorter than {n} characters",
    "left_long": "longer than {n} characters",
    "left_twice": "a duplicate",
    "left_there": "there already, or twice in the file",
    "questions": "{n} premises cannot be drawn by {questions} questions; give 1 or more of each",
    "no_job": "there is no such job; it may have been cleared away: ask for it again",
    "job_failed": "this could not be finished; try again, and if it stays so let whoever runs the server read its log",
    "job_crashed": "this ended the worker process {n} times and is not tried again; let whoever runs the server read "
    "its log",
    "no_collection": "{place}: holds no collection; make one with: goldlabel collect init",
    "collection_there": "{place}: holds a collection already; open it, or choose another place",
    "not_a_database": "{place}: is not a database of Goldlabel ({reason})",
    "not_an_address": "{place}: is no address of a database; give postgresql://USER@HOST/NAME",
    "no_place": "{place}: cannot hold a collection; give a folder (SQLite) or postgresql://USER@HOST/NAME",
    "older_schema": "{place}: is of an older Goldlabel (schema {revision}, this one works with {known}); stop its "
    "servers, keep a copy, and run: {command}",
    "newer_schema": "{place}: was written by a newer Goldlabel (schema {revision}, this one knows up to {known}); "
    "install the newer version: nothing was changed",
    "processes": "{n} server processes cannot share {place}; allowed: 1, or more with --database postgresql://…",
    "not_servable": "{address}: cannot be served on ({reason}); choose another --host or --port",
}


def message(name: str, /, **parameters: object) -> Message:
    """Return a message by its name."""
    return Message(name, ENGLISH[name], parameters)


def words(names: Iterable[str]) -> tuple[Word, ...]:
    """Return names in code as words of the reader's language."""
    return tuple(map(Word, names))


def hint(name: str, allowed: Iterable[str]) -> Message:
    """Return the end of a refusal: the closest of what is allowed, then all of it."""
    names = sorted(allowed)
    close = closest(name, names)
    if close is None:
        return message("allowed", allowed=names)
    return message("did_you_mean", name=close, allowed=names)


def one_of(value: str, allowed: Iterable[str]) -> Message:
    """Return which names are allowed in the place of a value, and which of them is most like it."""
    names = sorted(allowed)
    close = closest(value, names)
    if close is None:
        return message("one_of", names=words(names))
    return message("one_of_nearest", names=words(names), name=close)
