import type { ModelMessage } from './provider-port.ts'

/** What one side says in a row, in a provider's own blocks. */
export interface Turn<Block> {
  readonly side: 'user' | 'assistant'
  readonly blocks: Block[]
}

/** All system messages as one text; '' for none. For providers that take it beside the dialogue. */
export const systemText = (messages: readonly ModelMessage[]): string =>
  messages.flatMap((message) => (message.role === 'system' ? [message.content] : [])).join('\n\n')

/**
 * The dialogue in turns that alternate, as some providers want it: results of tools are the user's side, and messages
 * of one side that follow each other become one. Messages without blocks are left out.
 */
export function turnsOf<Block>(
  messages: readonly ModelMessage[],
  blocksOf: (message: ModelMessage) => Block[],
): Turn<Block>[] {
  const turns: Turn<Block>[] = []
  for (const message of messages) {
    const blocks = message.role === 'system' ? [] : blocksOf(message)
    if (blocks.length === 0) continue
    const side = message.role === 'assistant' ? 'assistant' : 'user'
    const last = turns.at(-1)
    if (last?.side === side) last.blocks.push(...blocks)
    else turns.push({ side, blocks })
  }
  return turns
}
