/** Bounds of what a stream may cost, for SSE and WebSocket alike. Ticks are seconds. */
export const wireLimits = {
  /** Silence after which a comment shows that the connection lives. */
  keepAliveTicks: 15,
  /** How long a reader may leave what was written to it. */
  blockedMaxTicks: 60,
  /** What may wait for a reader whose producer does not heed back-pressure. */
  bufferedMaxBytes: 8 * 1024 * 1024,
} as const
