export * from '@xstate/store'
