import type { BodyWriter } from './http-port.ts'

/** Takes everything and sends nothing: the body of an answer to HEAD, or to a peer that is gone. */
export const mutedWriter: BodyWriter = {
  bufferedBytes: 0,
  write: () => true,
  onDrain: () => {},
  end: () => {},
  abort: () => {},
}
