import { afterEach, describe, expect, it, vi } from 'vitest'
import { OtlpExporter } from '#telemetry/otlp-exporter.ts'
import type { EndedSpan } from '#telemetry/tracer.ts'
import { FloodingServer, flood } from '../outgoing/flooding-server.ts'

const span: EndedSpan = {
  name: 'effect',
  kind: 'internal',
  context: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true },
  parentSpanId: null,
  startedMs: 1,
  endedMs: 2,
  attributes: {},
  error: null,
}
const max = 8_192
const opened: { close(): Promise<void> }[] = []

afterEach(async () => {
  vi.useRealTimers()
  for (const each of opened.splice(0)) await each.close()
})

const openFor = async (answer: Parameters<typeof FloodingServer.open>[0]) => {
  const server = await FloodingServer.open(answer)
  opened.push(server)
  const failures: string[] = []
  const options = { endpoint: `http://${server.host}`, resource: {}, failed: (reason: string) => failures.push(reason) }
  return { server, failures, exporter: new OtlpExporter(options) }
}

describe('spans for an OTLP receiver', () => {
  it('that stalls are queued up to a limit, and further spans are lost', async () => {
    const { server, exporter } = await openFor(() => {})
    for (let count = 0; count < max * 4; count++) exporter.take(span)
    await vi.waitFor(() => expect(server.sockets.size).toBe(1), { timeout: 30_000 })
    expect(exporter.waiting).toBe(max)
    expect(exporter.lost).toBeGreaterThan(max * 2)
    await server.close()
    await exporter.close()
  })

  it('that stalls delay the end of the process by seconds only, however many are queued', async () => {
    const { exporter, failures } = await openFor(() => {})
    for (let count = 0; count < max * 2; count++) exporter.take(span)
    const startedAt = performance.now()
    await exporter.close()
    expect(performance.now() - startedAt).toBeLessThan(9_000)
    expect(exporter).toMatchObject({ waiting: 0, lost: max * 2 })
    expect(failures).not.toEqual([])
  }, 30_000)

  it('that sends an endless response are exported', async () => {
    const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
    const { server, exporter, failures } = await openFor(flood(head, '5\r\nhello\r\n'.repeat(1000)))
    exporter.take(span)
    await exporter.close()
    expect({ failures, lost: exporter.lost }).toEqual({ failures: [], lost: 0 })
    await vi.waitFor(() => expect(server.sockets.size).toBe(0), 30_000)
  })
})
