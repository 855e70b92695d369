import { randomUUID } from 'node:crypto'
import type { ImageReader } from '#actors/capability/image-reader.ts'
import { chooseModel } from '#gateway/vision/default-model.ts'
import { imageParts } from '#gateway/vision/image-parts.ts'
import { narrowedScope, projectScope } from '#storage/index.ts'
import { promptFor } from './vision-prompt.ts'
import { answerText } from './vision-result.ts'
import type { VisionParts } from './vision-use-cases.ts'

/**
 * Returns the readers of images by model. Their calls have the checks, limits, budgets, redaction and usage of
 * `vision.ocr`.
 */
export const imageReaders =
  (parts: VisionParts) =>
  (model: string): ImageReader => ({
    read: async (images, { owner: { project, tenant }, signal }) => {
      const { route } = await chooseModel(parts.routes, project, model)
      const sources = images.map((image, at) => ({ kind: 'file', at: `images[${at}]`, ...image }) as const)
      const shown = await imageParts(sources, route, { remote: parts, signal })
      const text = promptFor('ocr', null, images.length > 1)
      const outcome = await parts.chat.complete({
        caller: {
          ...{
            principal: { kind: 'secret_key', project, keyId: 'knowledge' },
            requestId: randomUUID(),
            project,
            tenant,
          },
          scope: narrowedScope(projectScope(project), { tenant, user: null }),
          ...{ externalUserId: null, keyId: null, agentId: null, models: null },
        },
        ...{ operation: 'vision.ocr', need: 'vision', signal },
        body: { model, messages: [{ role: 'user', content: [{ type: 'text', text }, ...shown] }] },
      })
      return answerText(outcome)
    },
  })
