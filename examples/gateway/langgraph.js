import { tool } from '@langchain/core/tools'
import { MemorySaver } from '@langchain/langgraph'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'

/*
 * An agent of LangGraph over the gateway: its graph and its memory run here, and each model call is routed, limited and metered
 * by the server.
 */
const { TROUPE_URL = 'http://127.0.0.1:8080', TROUPE_KEY, MODEL = 'simulated-1' } = process.env
const orderStatus = tool(async ({ order }) => `Order ${order} is on its way.`, {
  name: 'order_status',
  description: 'The status of an order',
  schema: z.object({ order: z.string() }),
})
const agent = createReactAgent({
  llm: new ChatOpenAI({ model: MODEL, apiKey: TROUPE_KEY, configuration: { baseURL: `${TROUPE_URL}/v1` } }),
  tools: [orderStatus],
  checkpointer: new MemorySaver(),
})
const thread = { configurable: { thread_id: 'ada' } }
for (const content of ['Please use order_status for order 7.', 'And now use order_status for order 8.']) {
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content }] }, thread)
  console.log(messages.at(-1).text)
}
