import { dirname } from 'node:path/posix'
import { importInSteps } from '#outgoing/import-in-steps.ts'
import { type ProviderSdk, type SdkFetch, sdkBaseUrl, sdkOptions } from '../provider-sdk.ts'

const pageSize = 1000

/** Opens Anthropic's SDK, which is imported on first use, since it takes memory. */
export const anthropicSdk = async (fetch: SdkFetch): Promise<ProviderSdk> => {
  await importInSteps('@anthropic-ai/sdk', import.meta.url)
  const { Anthropic } = await import('@anthropic-ai/sdk')
  // paths of this SDK begin with the version
  const client = new Anthropic({
    ...{ ...sdkOptions, webhookKey: null, openTelemetry: false },
    ...{ baseURL: dirname(sdkBaseUrl), fetch },
  })
  return {
    models: (after) => client.models.list({ limit: pageSize, ...(after !== null && { after_id: after }) }).asResponse(),
    chat: (request) => client.messages.create(request).asResponse(),
  }
}
