import type { Installation } from './installation.ts'

/** What a small shop with agents does in a day, by which the pictures of the console are filled. */
export interface LivedDay {
  /** The calls and sessions of half an hour; at noon there are more than at night. */
  half(index: number): Promise<void>
  /** What is left in the evening: calls that wait for a decision. */
  end(): Promise<void>
}

const questions = [
  'Where is order 1042?',
  'Write to ada@example.com that her parcel is on its way',
  'What is your refund policy, and how long does a refund take?',
  'Sum up these reviews: good, very good, arrived late',
  'Translate into French: your order has left our warehouse',
] as const
const models = ['simulated-1', 'simulated-1', 'simulated-context-8000'] as const
/** Calls in half an hour: two waves a day, and some that differ. */
const callsIn = (half: number): number =>
  Math.round(4 + 3 * Math.sin(half / 4) + 2 * Math.sin(half / 1.7) + (half % 5) / 2)

const refundOf = (url: string, order: number) => ({
  input: `Please use issue_refund, order: ${order}`,
  tools: [
    {
      ...{ type: 'http', name: 'issue_refund', description: 'Pays an order back.', url },
      ...{ needsApproval: true, risk_level: 'high' },
      parameters: { type: 'object', properties: { order: { type: 'string' } } },
    },
  ],
})

/** Creates tenants and agents. @param tool the URL of the refund service */
export const liveDay = async (installation: Installation, tool: string): Promise<LivedDay> => {
  const post = (path: string, body: object): Promise<string> => installation.post(path, body)
  const tenants = [
    await post('/v1/tenants', { external_id: 'acme', name: 'Acme Outdoor' }),
    await post('/v1/tenants', { external_id: 'globex', name: 'Globex Books' }),
  ]
  const refund = {
    type: 'http',
    name: 'issue_refund',
    description: 'Pays an order back.',
    url: tool,
    needsApproval: true,
  }
  const config = { model: 'simulated-1', system_prompt: 'You help the customers of a shop.', tools: [refund] }
  const agents: string[] = []
  for (const [name, description] of [
    ['Triage', 'Sorts tickets by urgency and language.'],
    ['Researcher', 'Compares suppliers, and names its sources.'],
    ['Support desk', 'Answers customers, and refunds what a person approves.'],
  ])
    agents.push(await post('/v1/agents', { name, description, config, visibility: 'public' }))
  const desk = `/v1/agents/${agents[2]}/versions`
  for (const version of ['1.0.0', '1.1.0']) {
    await post(desk, { version, config, visibility: 'public' })
    await post(`${desk}/${version}/publish`, {})
  }
  await post(desk, { version: '1.2.0', config, visibility: 'public' })
  await post('/v1/limits', { subject: 'project', subject_id: null, budget_month_usd: '0.05' })
  await post('/v1/limits', { subject: 'tenant', subject_id: tenants[0] ?? '', budget_month_usd: '0.01' })
  const sessionOf = (index: number): Promise<string> =>
    post('/v1/sessions', { tenant_id: tenants[index % 2], agent_id: agents[index % 3] })
  return {
    half: async (index) => {
      const calls = callsIn(index)
      for (let call = 0; call < calls; call++) {
        const content = call % 9 === 8 ? 'fail please' : questions[(index + call) % questions.length]
        const model = models[(index + call) % models.length]
        await post('/v1/chat/completions', { model, messages: [{ role: 'user', content }] })
      }
      if (index % 3 === 0) await post(`/v1/sessions/${await sessionOf(index)}/turns`, { input: questions[index % 5] })
    },
    end: async () => {
      await post(`/v1/sessions/${await sessionOf(0)}/turns`, { input: 'fail please' })
      for (const order of [1042, 977]) await post(`/v1/sessions/${await sessionOf(order)}/turns`, refundOf(tool, order))
    },
  }
}
