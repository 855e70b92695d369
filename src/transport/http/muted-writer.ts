import type { BodyWriter } from './http-port.ts'

/** A writer that discards everything: for the answer to HEAD, or to a peer that has disconnected. */
export const mutedWriter: BodyWriter = {
  bufferedBytes: 0,
  write: () => true,
  onDrain: () => {},
  end: () => {},
  abort: () => {},
}
