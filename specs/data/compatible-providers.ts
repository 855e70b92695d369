import type { ProviderSpec } from './providers.ts'

type Server = Pick<ProviderSpec, 'id' | 'name' | 'baseUrl' | 'env' | 'website' | 'docsUrl'>

const compatible = (server: Server): ProviderSpec => ({ ...server, format: 'openai', byName: true })

/** A server that runs on the caller's own machines, at its usual port. */
const local = (server: Server): ProviderSpec => ({ ...compatible(server), keyless: true })

/** Providers and servers of OpenAI's API that serve models only by their own name. */
export const compatibleProviders: readonly ProviderSpec[] = [
  compatible({
    ...{ id: 'moonshot', name: 'Moonshot AI', env: 'MOONSHOT', baseUrl: 'https://api.moonshot.ai/v1' },
    ...{ website: 'https://www.moonshot.ai', docsUrl: 'https://platform.moonshot.ai/docs' },
  }),
  compatible({
    ...{ id: 'zai', name: 'Z.ai', env: 'ZAI', baseUrl: 'https://api.z.ai/api/paas/v4' },
    ...{ website: 'https://z.ai', docsUrl: 'https://docs.z.ai' },
  }),
  compatible({
    ...{ id: 'qwen', name: 'Qwen', env: 'QWEN', baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1' },
    ...{ website: 'https://qwen.ai', docsUrl: 'https://www.alibabacloud.com/help/en/model-studio' },
  }),
  compatible({
    ...{ id: 'nvidia', name: 'NVIDIA NIM', env: 'NVIDIA', baseUrl: 'https://integrate.api.nvidia.com/v1' },
    ...{ website: 'https://build.nvidia.com', docsUrl: 'https://docs.api.nvidia.com/nim' },
  }),
  compatible({
    ...{ id: 'sambanova', name: 'SambaNova', env: 'SAMBANOVA', baseUrl: 'https://api.sambanova.ai/v1' },
    ...{ website: 'https://sambanova.ai', docsUrl: 'https://docs.sambanova.ai' },
  }),
  compatible({
    ...{ id: 'hyperbolic', name: 'Hyperbolic', env: 'HYPERBOLIC', baseUrl: 'https://api.hyperbolic.xyz/v1' },
    ...{ website: 'https://www.hyperbolic.ai', docsUrl: 'https://docs.hyperbolic.xyz' },
  }),
  compatible({
    ...{ id: 'cloudflare', name: 'Cloudflare Workers AI', env: 'CLOUDFLARE' },
    baseUrl: 'https://api.cloudflare.com/client/v4/accounts/{account_id}/ai/v1',
    ...{ website: 'https://www.cloudflare.com', docsUrl: 'https://developers.cloudflare.com/workers-ai' },
  }),
  compatible({
    ...{ id: 'github', name: 'GitHub Models', env: 'GITHUB_MODELS', baseUrl: 'https://models.github.ai/inference' },
    ...{ website: 'https://github.com/marketplace/models', docsUrl: 'https://docs.github.com/github-models' },
  }),
  compatible({
    ...{ id: 'cohere', name: 'Cohere', env: 'COHERE', baseUrl: 'https://api.cohere.ai/compatibility/v1' },
    ...{ website: 'https://cohere.com', docsUrl: 'https://docs.cohere.com/docs/compatibility-api' },
  }),
  local({
    ...{ id: 'ollama', name: 'Ollama', env: 'OLLAMA', baseUrl: 'http://localhost:11434/v1' },
    ...{ website: 'https://ollama.com', docsUrl: 'https://docs.ollama.com' },
  }),
  local({
    ...{ id: 'vllm', name: 'vLLM', env: 'VLLM', baseUrl: 'http://localhost:8000/v1' },
    ...{ website: 'https://vllm.ai', docsUrl: 'https://docs.vllm.ai' },
  }),
  local({
    ...{ id: 'lmstudio', name: 'LM Studio', env: 'LMSTUDIO', baseUrl: 'http://localhost:1234/v1' },
    ...{ website: 'https://lmstudio.ai', docsUrl: 'https://lmstudio.ai/docs' },
  }),
  local({
    ...{ id: 'llamacpp', name: 'llama.cpp', env: 'LLAMACPP', baseUrl: 'http://localhost:8080/v1' },
    ...{ website: 'https://github.com/ggml-org/llama.cpp', docsUrl: 'https://github.com/ggml-org/llama.cpp' },
  }),
]
