/** Bounds of what peers cost each other. */
export const peerLimits = {
  /** How long both sides may take to prove that they hold the key, in ms. */
  handshakeMs: 2000,
  /** One question or answer: far above the largest body that a request may have, and what a commit makes of it. */
  frameMaxBytes: 16 * 1024 * 1024,
  /** How often a peer whose answers are awaited is looked after, in ms. */
  beatMs: 150,
  /** A peer that says nothing to a ping for so long is silent, in ms; longer where it or this process has been slow lately. */
  silenceMs: 600,
  silenceMostMs: 3000,
  /** How long a question waits for its answer from a peer that is there, in ms. */
  answerMs: 5000,
  /** Questions of one process to another that have no answer yet. */
  openQuestions: 10_000,
  /** What may wait for a peer that does not read. */
  bufferedMaxBytes: 64 * 1024 * 1024,
  /** What a closing server waits for at most: questions that are being answered. In ms. */
  closeMs: 2000,
} as const
