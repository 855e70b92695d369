/** Limits of a stream, for SSE and WebSocket alike. */
export const wireLimits = {
  /** Duration of one tick of a stream. */
  tickMs: 1000,
  /** Silence after which a comment is sent to show that the connection is alive. */
  keepAliveTicks: 15,
  /** How long a reader may leave buffered data unread. */
  blockedMaxTicks: 60,
  /** Maximum number of bytes buffered for a reader whose producer ignores back-pressure. */
  bufferedMaxBytes: 8 * 1024 * 1024,
  /**
   * Maximum number of bytes buffered for a WebSocket, whatever they are: beyond it the connection is cut. The answers to
   * pings are written below the code that knows of back-pressure.
   */
  socketMaxBytes: 32 * 1024 * 1024,
} as const
