import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { startReceiver } from '../otlp-receiver.ts'
import { patience } from '../patience.ts'
import { endsTurn, isEvent } from '../stream-reader.ts'
import { startToolServer, type ToolServer } from '../tool-server.ts'
import { ClusterWorld } from './cluster-world.ts'

const timeout = 180_000

let tool: ToolServer
beforeAll(async () => {
  tool = await startToolServer()
})
afterAll(() => tool.close())

it('a request whose session and action run on another node is one trace, up to the tool that is called', {
  timeout,
}, async () => {
  const receiver = await startReceiver()
  const world = await ClusterWorld.start(2, { tools: [tool], env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url } })
  onTestFinished(() => world.stop())
  await world.settled()
  let traces = 0
  const newTrace = () => (++traces).toString(16).padStart(32, '0')
  const traced = (trace: string) => ({ headers: { traceparent: `00-${trace}-b7ad6b7169203331-01` } })
  const spansOf = (trace: string) => receiver.spans.filter(({ traceId }) => traceId === trace)
  const lookup = {
    ...{ type: 'http', name: 'lookup', description: 'Looks it up.', parameters: { type: 'object' }, url: tool.url },
    needsApproval: true,
  }
  for (let round = 0; round < 6; round++) {
    const session = await world.api(0).createSession()
    const { owner, others } = await world.sides(session)
    const [other] = others
    if (other === undefined) throw new Error('the cluster has one node')
    const api = world.at(other)
    const [turning, approving] = [newTrace(), newTrace()]
    const turn = await api.stream(
      `/v1/sessions/${session}/turns`,
      { input: 'Please use lookup', tools: [lookup] },
      traced(turning),
    )
    const { action_id } = (await turn.until(isEvent('turn.paused'))).data
    const rest = await api.stream(`/v1/sessions/${session}/approve`, { action_id }, traced(approving))
    await rest.until(endsTurn)
    const instances = (trace: string, name: RegExp) =>
      new Set(spansOf(trace).flatMap((span) => (name.test(span.name) ? [span.instance] : [])))
    const settled = () => {
      expect(instances(turning, /^POST .*turns$/), 'the request').toEqual(new Set([other.name]))
      for (const name of [/^step session\.turn$/, /^effect session\.callModel$/, /^chat /])
        expect(instances(turning, name), String(name)).toEqual(new Set([owner.name]))
      expect(instances(approving, /^POST .*approve$/)).toEqual(new Set([other.name]))
      expect(instances(approving, /^step action\.approve$/).size).toBe(1)
      expect(instances(approving, /^effect action\.runTool$/).size).toBe(1)
      expect(instances(approving, /^step session\./), 'what the action reports').toEqual(new Set([owner.name]))
      for (const trace of [turning, approving]) {
        const ids = new Set(spansOf(trace).map(({ spanId }) => spanId))
        for (const { name, parentSpanId = '' } of spansOf(trace))
          expect(ids.has(parentSpanId) || parentSpanId === 'b7ad6b7169203331', `${name} has its parent`).toBe(true)
      }
    }
    await vi.waitFor(settled, patience)
    expect(tool.calls.at(-1)?.headers.traceparent).toMatch(new RegExp(`^00-${approving}-`))
  }
})
