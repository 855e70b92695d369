import { setPriority } from 'node:os'
import { OnnxModel } from './onnx-model.ts'
import { type EmbedReply, type EmbedRequest, placeOf, requestOf } from './schema.ts'

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
    const request = requestOf(message)
    const { id } = request
    done(request).then(answer, (error: unknown) => answer({ kind: 'failed', id, reason: reasonOf(error) }))
  })
  const done = async (request: EmbedRequest): Promise<EmbedReply> => {
    const { id, texts } = request
    if (request.kind === 'embed') return { kind: 'embedded', id, vectors: await model.embed(texts, request.use) }
    if (request.kind === 'read') return { kind: 'read', id, odds: await model.read(request.question, texts) }
    if (request.kind === 'judge') return { kind: 'read', id, odds: await model.judge(texts, request.trait) }
    if (request.kind === 'suspect') return { kind: 'read', id, odds: await model.suspect(texts) }
    return { kind: 'read', id, odds: await model.compare(texts[0] ?? '', request.older) }
  }
  answer({ kind: 'open', dimensions: probe?.length ?? 0, off: model.off })
} catch (error) {
  answer({ kind: 'closed', reason: reasonOf(error) })
}
