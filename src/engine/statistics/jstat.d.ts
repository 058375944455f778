// The package brings no types; these are the parts in use.
declare module 'jstat' {
  const jStat: {
    readonly studentt: { inv(probability: number, degreesOfFreedom: number): number };
    readonly normal: {
      inv(probability: number, mean: number, deviation: number): number;
      cdf(value: number, mean: number, deviation: number): number;
    };
    readonly chisquare: { cdf(value: number, degreesOfFreedom: number): number };
    gammaln(value: number): number;
  };
  export default jStat;
}
