import { compatibleProviders } from './compatible-providers.ts'

/** The HTTP APIs of providers. Many providers implement OpenAI's. */
export const wireFormats = [
  'openai',
  'anthropic',
  'google',
  'perplexity',
  'elevenlabs',
  'deepgram',
  'cartesia',
  'spitch',
  'azure',
  'bedrock',
  'vertex',
] as const

/** The HTTP API of a provider. */
export type WireFormat = (typeof wireFormats)[number]

/** A model provider that the server supports by name. */
export interface ProviderSpec {
  /** Lower-case id, as in `provider/model` and in the public catalogue. */
  readonly id: string
  readonly name: string
  readonly format: WireFormat
  /** Up to the version segment, without a trailing slash. A setting of the connection replaces `{its name}`. */
  readonly baseUrl: string
  /** Prefix of the environment variables `<env>_API_KEY` and `<env>_BASE_URL`, its managed key and URL. */
  readonly env: string
  readonly website: string
  readonly docsUrl: string
  /** Matches ids of models of this provider, whether or not `specs/data/prices.json` lists them. */
  readonly ids?: RegExp
  /** Its responses report the charge in USD, which takes precedence over the price in `specs/data/prices.json`. */
  readonly reportsCharges?: true
  /** Other names of the provider in `provider/model`. */
  readonly aliases?: readonly string[]
  /**
   * It serves a model only when the request names it (`bedrock/…`) or the project has a connection to it: its ids are
   * those of other providers, or of models that a server of the operator may serve under the same name.
   */
  readonly byName?: true
  /** Its credentials are more than a key, so only the connections of projects have them, not the environment. */
  readonly byConnection?: true
  /** Its servers may require no key. */
  readonly keyless?: true
}

/**
 * Well-known services whose APIs the server does not speak. A connection to one would only fail, so it is refused
 * instead of being taken for the caller's own name of another server.
 */
export const unservedProviders: ReadonlySet<string> = new Set([
  ...['sagemaker', 'aws-sagemaker', 'watsonx', 'oci', 'replicate', 'huggingface-endpoints', 'clarifai', 'nlpcloud'],
  ...['azure', 'aws', 'aws-bedrock', 'amazon-bedrock', 'gcp', 'vertex-ai', 'vertexai', 'google-vertex'],
])

/** All providers, in the order in which they are tried for a model that several of them serve. */
export const providers: readonly ProviderSpec[] = [
  {
    id: 'openai',
    name: 'OpenAI',
    format: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    env: 'OPENAI',
    website: 'https://openai.com',
    docsUrl: 'https://platform.openai.com/docs',
    ids: /^(gpt-|chatgpt-|o\d|text-embedding-|tts-|whisper-1|dall-e)/,
  },
  {
    id: 'anthropic',
    name: 'Anthropic',
    format: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    env: 'ANTHROPIC',
    website: 'https://www.anthropic.com',
    docsUrl: 'https://docs.anthropic.com',
    ids: /^claude-/,
  },
  {
    id: 'google',
    name: 'Google',
    format: 'google',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    env: 'GOOGLE',
    website: 'https://ai.google.dev',
    docsUrl: 'https://ai.google.dev/gemini-api/docs',
    ids: /^gemini-/,
    aliases: ['gemini'],
  },
  {
    id: 'groq',
    name: 'Groq',
    format: 'openai',
    baseUrl: 'https://api.groq.com/openai/v1',
    env: 'GROQ',
    website: 'https://groq.com',
    docsUrl: 'https://console.groq.com/docs',
    ids: /^(whisper-large-v3|distil-whisper|playai-tts)/,
  },
  {
    id: 'mistral',
    name: 'Mistral AI',
    format: 'openai',
    baseUrl: 'https://api.mistral.ai/v1',
    env: 'MISTRAL',
    website: 'https://mistral.ai',
    docsUrl: 'https://docs.mistral.ai',
    ids: /^(mistral-|codestral-|ministral-|pixtral-|magistral-)/,
  },
  {
    id: 'deepseek',
    name: 'DeepSeek',
    format: 'openai',
    baseUrl: 'https://api.deepseek.com/v1',
    env: 'DEEPSEEK',
    website: 'https://www.deepseek.com',
    docsUrl: 'https://api-docs.deepseek.com',
    ids: /^deepseek-/,
  },
  {
    id: 'xai',
    name: 'xAI',
    format: 'openai',
    baseUrl: 'https://api.x.ai/v1',
    env: 'XAI',
    reportsCharges: true,
    website: 'https://x.ai',
    docsUrl: 'https://docs.x.ai',
    ids: /^grok-/,
  },
  {
    id: 'perplexity',
    name: 'Perplexity',
    format: 'perplexity',
    baseUrl: 'https://api.perplexity.ai/v1',
    env: 'PERPLEXITY',
    reportsCharges: true,
    website: 'https://www.perplexity.ai',
    docsUrl: 'https://docs.perplexity.ai',
    ids: /^sonar/,
  },
  {
    id: 'cerebras',
    name: 'Cerebras',
    format: 'openai',
    baseUrl: 'https://api.cerebras.ai/v1',
    env: 'CEREBRAS',
    website: 'https://www.cerebras.ai',
    docsUrl: 'https://inference-docs.cerebras.ai',
  },
  {
    id: 'together',
    name: 'Together AI',
    format: 'openai',
    baseUrl: 'https://api.together.xyz/v1',
    env: 'TOGETHER',
    website: 'https://www.together.ai',
    docsUrl: 'https://docs.together.ai',
  },
  {
    id: 'fireworks',
    name: 'Fireworks AI',
    format: 'openai',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    env: 'FIREWORKS',
    website: 'https://fireworks.ai',
    docsUrl: 'https://docs.fireworks.ai',
  },
  {
    id: 'openrouter',
    name: 'OpenRouter',
    format: 'openai',
    baseUrl: 'https://openrouter.ai/api/v1',
    env: 'OPENROUTER',
    reportsCharges: true,
    website: 'https://openrouter.ai',
    docsUrl: 'https://openrouter.ai/docs',
  },
  {
    id: 'elevenlabs',
    name: 'ElevenLabs',
    format: 'elevenlabs',
    baseUrl: 'https://api.elevenlabs.io/v1',
    env: 'ELEVENLABS',
    website: 'https://elevenlabs.io',
    docsUrl: 'https://elevenlabs.io/docs',
    ids: /^(eleven_|scribe_)/,
  },
  {
    id: 'deepgram',
    name: 'Deepgram',
    format: 'deepgram',
    baseUrl: 'https://api.deepgram.com/v1',
    env: 'DEEPGRAM',
    website: 'https://deepgram.com',
    docsUrl: 'https://developers.deepgram.com',
    ids: /^(aura-|nova-)/,
  },
  {
    id: 'cartesia',
    name: 'Cartesia',
    format: 'cartesia',
    baseUrl: 'https://api.cartesia.ai',
    env: 'CARTESIA',
    website: 'https://cartesia.ai',
    docsUrl: 'https://docs.cartesia.ai',
    ids: /^(sonic-|sonic$|ink-)/,
  },
  {
    id: 'spitch',
    name: 'Spitch',
    format: 'spitch',
    baseUrl: 'https://api.spi-tch.com/v1',
    env: 'SPITCH',
    website: 'https://spitch.app',
    docsUrl: 'https://docs.spitch.app',
    ids: /^(spitch-|mansa_)/,
  },
  {
    id: 'azure-openai',
    name: 'Azure OpenAI',
    format: 'azure',
    baseUrl: 'https://{resource}.openai.azure.com',
    env: 'AZURE_OPENAI',
    website: 'https://azure.microsoft.com/products/ai-services/openai-service',
    docsUrl: 'https://learn.microsoft.com/azure/ai-foundry/openai',
    byName: true,
  },
  {
    id: 'bedrock',
    name: 'Amazon Bedrock',
    format: 'bedrock',
    baseUrl: 'https://bedrock-runtime.{region}.amazonaws.com',
    env: 'BEDROCK',
    website: 'https://aws.amazon.com/bedrock',
    docsUrl: 'https://docs.aws.amazon.com/bedrock',
    byName: true,
  },
  {
    id: 'vertex',
    name: 'Google Vertex AI',
    format: 'vertex',
    baseUrl: 'https://{location}-aiplatform.googleapis.com/v1/projects/{project_id}/locations/{location}',
    env: 'VERTEX',
    website: 'https://cloud.google.com/vertex-ai',
    docsUrl: 'https://cloud.google.com/vertex-ai/generative-ai/docs',
    byName: true,
    byConnection: true,
  },
  ...compatibleProviders,
  {
    id: 'simulated',
    name: 'Simulated',
    format: 'openai',
    baseUrl: '',
    env: 'SIMULATED',
    website: '',
    docsUrl: '',
    ids: /^simulated(-|$)/,
  },
]
