import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from '@openai/agents'
import { z } from 'zod'

setTracingDisabled(true)
const modelProvider = new OpenAIProvider({ baseURL: `${process.env.TROUPE_URL}/v1`, apiKey: process.env.TROUPE_KEY })
const weather = tool({
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => `sunny in ${city}`,
})
const agent = new Agent({ name: 'Weather', instructions: 'Answer.', model: 'simulated-1', tools: [weather] })
const runner = new Runner({ modelProvider })
const first = await runner.run(agent, 'Please use get_weather in Lagos')
if (!String(first.finalOutput).includes('sunny')) throw new Error(`no result in the answer: ${first.finalOutput}`)
const second = await runner.run(agent, [...first.history, { role: 'user', content: 'Say two' }])
if (!second.finalOutput) throw new Error('the second turn has no text')
