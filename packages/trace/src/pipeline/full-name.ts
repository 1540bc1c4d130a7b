/** The name of an instance behind that of the instance which calls its pipeline: `release / build (linux)`. */
export function fullName(caller: string, instance: string): string {
  return caller === "" ? instance : `${caller} / ${instance}`;
}
