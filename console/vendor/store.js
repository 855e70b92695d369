export { d as createStore } from './store-core.js'
