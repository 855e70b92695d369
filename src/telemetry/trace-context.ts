import { randomBytes } from 'node:crypto'

/** Identity of a span in W3C Trace Context. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  readonly sampled: boolean
}

const pattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/

/** Parses a `traceparent` header; null when it is absent or invalid. */
export const readTraceparent = (header: string | undefined): TraceContext | null => {
  const [, traceId, spanId, flags = '0'] = pattern.exec(header?.trim() ?? '') ?? []
  if (traceId === undefined || spanId === undefined) return null
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** Returns the `traceparent` header of a span. */
export const traceparent = ({ traceId, spanId, sampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-0${sampled ? 1 : 0}`

/** Returns the context of a new span, a child of `parent` or the root of a new trace. */
export const childOf = (parent: TraceContext | null): TraceContext => ({
  traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
  spanId: randomBytes(8).toString('hex'),
  sampled: parent?.sampled ?? true,
})
