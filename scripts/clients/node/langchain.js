import { HumanMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'

const weather = tool(async ({ city }) => `sunny in ${city}`, {
  name: 'get_weather',
  description: 'The weather of a city',
  schema: z.object({ city: z.string() }),
})
for (const useResponsesApi of [false, true]) {
  const model = new ChatOpenAI({
    model: 'simulated-1',
    apiKey: process.env.TROUPE_KEY,
    useResponsesApi,
    configuration: { baseURL: `${process.env.TROUPE_URL}/v1` },
  }).bindTools([weather])
  const messages = [new HumanMessage('Please use get_weather in Lagos')]
  const called = await model.invoke(messages)
  const [call] = called.tool_calls ?? []
  if (call === undefined) throw new Error('the tool was not called')
  messages.push(called, await weather.invoke(call))
  const { text } = await model.invoke(messages)
  if (!text.includes('sunny')) throw new Error(`the tool's result is not in the answer: ${text}`)
}
