import type { ResultOf } from '#specs/index.ts'
import type { ModelRow } from './model-rows.ts'

/** Methods of Google's API by the type of a model. */
const methods: Readonly<Record<string, readonly string[]>> = {
  chat: ['generateContent', 'streamGenerateContent', 'countTokens'],
  embedding: ['embedContent', 'batchEmbedContents'],
}

const methodsOf = ({ types }: ModelRow): readonly string[] => types.flatMap((type) => methods[type] ?? [])

/** Whether Google's API has a method for the model. */
export const isGoogleModel = (row: ModelRow): boolean => methodsOf(row).length > 0

/** Converts a model to the form of Google's SDKs. */
export const googleModelInfo = (row: ModelRow): ResultOf<'gemini.get_model'> => ({
  name: `models/${row.id}`,
  baseModelId: row.id,
  version: '',
  displayName: row.name,
  description: row.description,
  ...(row.context_window > 0 && { inputTokenLimit: row.context_window }),
  supportedGenerationMethods: methodsOf(row),
})
