import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ChatOpenAI } from '@langchain/openai'

/* A graph of one node, which answers a conversation by the model at MODEL_URL. */
const model = new ChatOpenAI({
  ...{ model: 'gpt-4o-mini', apiKey: 'bench', streaming: true },
  configuration: { baseURL: process.env.MODEL_URL },
})

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('answer', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge(START, 'answer')
  .addEdge('answer', END)
  .compile()
