import { HumanMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { MemorySaver } from '@langchain/langgraph'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'

const weather = tool(async ({ city }) => `sunny in ${city}`, {
  name: 'get_weather',
  description: 'The weather of a city',
  schema: z.object({ city: z.string() }),
})
for (const useResponsesApi of [false, true]) {
  const plain = new ChatOpenAI({
    model: 'simulated-1',
    apiKey: process.env.TROUPE_KEY,
    useResponsesApi,
    configuration: { baseURL: `${process.env.TROUPE_URL}/v1` },
  })
  const model = plain.bindTools([weather])
  const messages = [new HumanMessage('Please use get_weather in Lagos')]
  const called = await model.invoke(messages)
  const [call] = called.tool_calls ?? []
  if (call === undefined) throw new Error('the tool was not called')
  messages.push(called, await weather.invoke(call))
  const { text } = await model.invoke(messages)
  if (!text.includes('sunny')) throw new Error(`the tool's result is not in the answer: ${text}`)

  const agent = createReactAgent({ llm: plain, tools: [weather], checkpointer: new MemorySaver() })
  const thread = { configurable: { thread_id: '1' } }
  await agent.invoke({ messages: [new HumanMessage('Please use get_weather in Lagos')] }, thread)
  const again = await agent.invoke({ messages: [new HumanMessage('And again use get_weather in Oslo')] }, thread)
  if (again.messages.length !== 8 || !again.messages.at(-1).text.includes('sunny'))
    throw new Error('the graph does not go on')
}
