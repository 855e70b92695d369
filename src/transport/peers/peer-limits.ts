/** Limits of peer connections. */
export const peerLimits = {
  /** Time in ms that both sides have to prove that they hold the key. */
  handshakeMs: 2000,
  /** Maximum size of one request or answer: far above the largest request body and the commit that results from it. */
  frameMaxBytes: 16 * 1024 * 1024,
  /** Heartbeat interval in ms, while answers are outstanding. */
  beatMs: 150,
  /**
   * A peer that does not answer a ping for this long, in ms, is silent; up to `maxSilenceMs` after recent delays on
   * either side.
   */
  silenceMs: 600,
  maxSilenceMs: 3000,
  /** Timeout in ms of a request to a live peer. */
  answerMs: 5000,
  /** Maximum number of unanswered requests of one process to another. */
  openQuestions: 10_000,
  /** Maximum number of bytes buffered for a peer that does not read. */
  bufferedMaxBytes: 64 * 1024 * 1024,
  /** Time in ms that a closing server waits for requests in progress. */
  closeMs: 2000,
} as const
