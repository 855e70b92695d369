import { setPriority } from 'node:os'
import { OnnxModel } from './onnx-model.ts'
import { type EmbedReply, placeOf, requestOf } from './schema.ts'

/** Entry point of a local embedder's process. The model is native code, and a crash of it ends only this process. */
const answer = (reply: EmbedReply): void => {
  process.send?.(reply)
}
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Below that of the server, so that it has the processor when both want it. */
const priority = 2

setPriority(priority)
process.on('disconnect', () => process.exit(0))
process.on('SIGINT', () => undefined)
try {
  const model = await OnnxModel.open(placeOf(process.argv[2] ?? ''))
  const [probe] = await model.embed(['probe'], 'query')
  process.on('message', (message: unknown) => {
    const { id, texts, use } = requestOf(message)
    model.embed(texts, use).then(
      (vectors) => answer({ kind: 'embedded', id, vectors }),
      (error: unknown) => answer({ kind: 'failed', id, reason: reasonOf(error) }),
    )
  })
  answer({ kind: 'open', dimensions: probe?.length ?? 0 })
} catch (error) {
  answer({ kind: 'closed', reason: reasonOf(error) })
}
