import { importInSteps } from '#outgoing/import-in-steps.ts'
import { type ProviderSdk, type SdkFetch, sdkBaseUrl, sdkOptions } from '../provider-sdk.ts'

/** Opens OpenAI's SDK, which is imported on first use, since it takes memory. */
export const openAiSdk = async (fetch: SdkFetch): Promise<ProviderSdk> => {
  await importInSteps('openai', import.meta.url)
  const { OpenAI } = await import('openai')
  const unset = { adminAPIKey: null, organization: null, project: null, webhookSecret: null }
  const client = new OpenAI({ ...sdkOptions, ...unset, baseURL: sdkBaseUrl, fetch })
  return {
    models: () => client.models.list().asResponse(),
    chat: (request) => client.chat.completions.create(request).asResponse(),
  }
}
