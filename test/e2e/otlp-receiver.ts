import { createServer } from 'node:http'
import { expect, onTestFinished } from 'vitest'

/** A span as the receiver got it. */
export interface OtlpSpan {
  /** `service.instance.id` of the process that sent it. */
  readonly instance: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, string>> }[]
  readonly status: { readonly code?: number }
}

/** An OTLP/HTTP receiver in place of a collector. */
export const startReceiver = async () => {
  const spans: OtlpSpan[] = []
  let arrived = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      expect(request.url).toBe('/v1/traces')
      for (const { resource, scopeSpans } of JSON.parse(Buffer.concat(parts).toString()).resourceSpans) {
        expect(resource.attributes).toContainEqual({ key: 'service.name', value: { stringValue: 'troupe' } })
        const instance = resource.attributes.find(({ key }: { key: string }) => key === 'service.instance.id')?.value
        for (const each of scopeSpans)
          for (const span of each.spans) spans.push({ ...span, instance: String(instance?.stringValue) })
      }
      response.setHeader('content-type', 'application/json').end('{}')
      arrived.resolve()
      arrived = Promise.withResolvers()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  /** Waits for a span whose name matches. */
  const named = async (pattern: RegExp): Promise<OtlpSpan> => {
    for (;;) {
      const next = arrived.promise
      const found = spans.find(({ name }) => pattern.test(name))
      if (found !== undefined) return found
      await next
    }
  }
  return { url: `http://127.0.0.1:${port}`, spans, named }
}

/** The value of an attribute of a span, as text. */
export const attribute = ({ attributes }: OtlpSpan, name: string): string | undefined => {
  const value = attributes.find(({ key }) => key === name)?.value
  return value?.stringValue ?? value?.intValue ?? value?.doubleValue?.toString()
}
