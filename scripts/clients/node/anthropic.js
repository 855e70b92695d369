import Anthropic from '@anthropic-ai/sdk'
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod'
import { z } from 'zod'

const client = new Anthropic({ baseURL: process.env.TROUPE_URL, apiKey: process.env.TROUPE_KEY })
const model = 'simulated-1'
const check = (holds, what) => {
  if (!holds) throw new Error(what)
}

const weather = betaZodTool({
  name: 'get_weather',
  description: 'The weather of a city',
  inputSchema: z.object({ city: z.string() }),
  run: ({ city }) => `sunny in ${city}`,
})
const messages = [{ role: 'user', content: 'Please use get_weather in Lagos' }]
const last = await client.beta.messages.toolRunner({ model, max_tokens: 200, messages, tools: [weather] })
check(JSON.stringify(last.content).includes('sunny in Lagos'), 'the tool runner has no result of its tool')

const stream = client.messages.stream({ model, max_tokens: 200, messages: [{ role: 'user', content: 'Hello' }] })
check((await stream.finalText()) === 'You said: Hello', 'the stream has another text')
const counted = await client.messages.countTokens({ model, messages })
check(counted.input_tokens > 0, 'no tokens are counted')
check(
  (await client.models.list()).data.some(({ id, type }) => id === model && type === 'model'),
  'not listed',
)
const wrong = await client.messages.create({ model, max_tokens: 0, messages }).catch((error) => error)
check(wrong instanceof Anthropic.BadRequestError && wrong.requestID !== null, `no BadRequestError: ${wrong}`)
