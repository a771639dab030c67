// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Live explanation: a thread of our own holds the explainers (a few pictures stay
// encoded), the window submits what it wants to see, the newest request wins. A request
// that is being computed is cancelled by a newer one, but an encoding or a loading that
// the newer one needs as well goes on, so that typing never starts it again. Below that
// priority, batches of maps (the method grid) are filled item by item.
//
// Signals, on the main loop:
//   "result" (LimnLiveResult *)           one per item and per scored sentence
//   "progress" (double fraction, char *message)  of loading, encoding, slow methods
//   "finished" (guint serial, GError *)   the request ended; the error concerns all of it
//   "fill-finished" (guint serial)

#include "ui/model/engine-thread.h"
#include "ui/model/live-request.h"
#include "ui/model/model-store.h"

#define LIMN_TYPE_LIVE (limn_live_get_type())
G_DECLARE_FINAL_TYPE(LimnLive, limn_live, LIMN, LIVE, GObject)

// The store must outlive it.
LimnLive *limn_live_new(LimnModelStore *store);
// Cancels everything and ends the thread. Called once before the last unref.
void limn_live_stop(LimnLive *live);

// Takes the request; returns its serial number (from 1).
guint limn_live_submit(LimnLive *live, LimnLiveRequest *request);
// Forgets the pending request and cancels the running one.
void limn_live_cancel(LimnLive *live);

// Fills items below the priority of live requests; replaces the fill before it.
guint limn_live_fill(LimnLive *live, LimnLiveRequest *request);
void limn_live_cancel_fill(LimnLive *live);

// TRUE while a request is pending or running. Any thread.
gboolean limn_live_is_busy(LimnLive *live);
// Blocks another thread until it is not busy, at most that long: a batch yields with it.
void limn_live_wait_idle(LimnLive *live, guint milliseconds);

// Drops the explainers of a checkpoint (it is being unloaded).
void limn_live_forget_model(LimnLive *live, const char *path);
// How often a picture went through the vision tower since the start.
guint limn_live_get_n_encodings(LimnLive *live);
