// SPDX-License-Identifier: Apache-2.0
// About 10,000 gates that all work in each cycle: 512 flip-flops (of 6 gates), 16 adders of 32 bits (10 per bit), and exclusive ors.
module gates (
    input         clk,
    input         rst_n,
    input         runs,
    output        busy,
    output [31:0] sum
);
    reg [31:0] lanes [0:15];
    assign busy = runs;
    assign sum  = lanes[0];
    integer i;
    always @(posedge clk or negedge rst_n)
        if (!rst_n)
            for (i = 0; i < 16; i = i + 1) lanes[i] <= 32'h9e3779b9 * i;
        else if (runs)
            for (i = 0; i < 16; i = i + 1)
                lanes[i] <= (lanes[(i + 1) % 16] + {lanes[(i + 5) % 16][12:0], lanes[(i + 5) % 16][31:13]})
                    ^ {lanes[(i + 9) % 16][24:0], lanes[(i + 9) % 16][31:25]} ^ lanes[i];
endmodule
