export { readSettings, type SettingsOptions } from "../settings/read-settings.ts";
