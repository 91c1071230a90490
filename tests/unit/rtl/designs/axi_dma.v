// SPDX-License-Identifier: Apache-2.0
// Copies COUNT bursts from SOURCE to TARGET: an AXI4 manager with four bursts under way, each with its ID, and registers behind AXI4-Lite.
module axi_dma (
    input             clk,
    input             rst_n,
    input      [7:0]  s_awaddr,
    input             s_awvalid,
    output            s_awready,
    input      [31:0] s_wdata,
    input      [3:0]  s_wstrb,
    input             s_wvalid,
    output            s_wready,
    output     [1:0]  s_bresp,
    output reg        s_bvalid,
    input             s_bready,
    input      [7:0]  s_araddr,
    input             s_arvalid,
    output            s_arready,
    output reg [31:0] s_rdata,
    output     [1:0]  s_rresp,
    output reg        s_rvalid,
    input             s_rready,

    output     [3:0]  m_arid,
    output     [39:0] m_araddr,
    output     [7:0]  m_arlen,
    output     [2:0]  m_arsize,
    output     [1:0]  m_arburst,
    output            m_arvalid,
    input             m_arready,
    input      [3:0]  m_rid,
    input      [63:0] m_rdata,
    input      [1:0]  m_rresp,
    input             m_rlast,
    input             m_rvalid,
    output            m_rready,
    output     [3:0]  m_awid,
    output     [39:0] m_awaddr,
    output     [7:0]  m_awlen,
    output     [2:0]  m_awsize,
    output     [1:0]  m_awburst,
    output            m_awvalid,
    input             m_awready,
    output     [63:0] m_wdata,
    output     [7:0]  m_wstrb,
    output            m_wlast,
    output            m_wvalid,
    input             m_wready,
    input      [3:0]  m_bid,
    input      [1:0]  m_bresp,
    input             m_bvalid,
    output            m_bready,

    output            irq,
    output            busy
);
    // Registers, as words: SOURCE, TARGET, COUNT, SHAPE (beats - 1, size, type, mistake), STATUS (done, errors), START
    localparam SOURCE = 0, TARGET = 1, COUNT = 2, SHAPE = 3, STATUS = 4, START = 5;
    localparam EARLY_LAST = 1, CROSSES = 2;
    reg [31:0] source, target, count, shape;
    reg [15:0] errors;
    reg        done, runs;
    wire [7:0] beats   = shape[7:0];    // - 1
    wire [2:0] size    = shape[10:8];
    wire [1:0] kind    = shape[12:11];
    wire [1:0] mistake = shape[14:13];
    wire [31:0] burst_bytes = ({24'd0, beats} + 32'd1) << size;
    assign irq  = done || errors != 0;
    assign busy = runs || s_awvalid || s_wvalid || s_arvalid || s_bvalid || s_rvalid;

    reg [31:0] random;
    always @(posedge clk or negedge rst_n)
        if (!rst_n) random <= 32'h2468ace;
        else if (runs) random <= {random[30:0], random[31] ^ random[21] ^ random[1] ^ random[0]};

    // --- Four slots of a burst: 0 free, 1 read, 2 data complete, 3 written
    reg [1:0]  state [0:3];
    reg [63:0] data [0:1023];       // slot, beat
    reg [7:0]  arrived [0:3];
    reg [31:0] asked, sent, filled, answered;  // bursts
    wire [1:0] ask_slot = asked[1:0], send_slot = sent[1:0], fill_slot = filled[1:0];
    reg        arvalid, awvalid, wvalid;
    reg [7:0]  beat;
    assign m_arvalid = arvalid;
    assign m_arid    = {2'b10, ask_slot};
    assign m_araddr  = {8'd0, source + asked * burst_bytes + (kind == 2 ? burst_bytes / 2 : 0)};
    assign m_arlen   = beats;
    assign m_arsize  = size;
    assign m_arburst = kind;
    assign m_rready  = random[3];
    assign m_awvalid = awvalid;
    assign m_awid    = {2'b01, send_slot};
    assign m_awaddr  = {8'd0, target + sent * burst_bytes + (kind == 2 ? burst_bytes / 2 : 0)}
                     + (mistake == CROSSES ? 40'd4088 : 40'd0);
    assign m_awlen   = beats;
    assign m_awsize  = size;
    assign m_awburst = kind;
    assign m_wvalid  = wvalid;
    assign m_wdata   = data[{fill_slot, beat}];
    // Beats of less than the bus: the lanes of the address.
    wire [31:0] lane_address = target + filled * burst_bytes + ({24'd0, beat} << size);
    assign m_wstrb   = size == 3 ? 8'hff : (size == 2 ? 8'h0f : size == 1 ? 8'h03 : 8'h01) << lane_address[2:0];
    assign m_wlast   = beat == beats || (mistake == EARLY_LAST && beat == 1);
    assign m_bready  = random[5];
    wire [1:0] r_slot = m_rid[1:0];
    integer i;
    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            {arvalid, awvalid, wvalid, runs, done} <= 0;
            {asked, sent, filled, answered, errors, beat} <= 0;
            for (i = 0; i < 4; i = i + 1) begin
                state[i]   <= 0;
                arrived[i] <= 0;
            end
        end else begin
            if (starts) begin
                runs <= 1;
                done <= 0;
                {asked, sent, filled, answered, errors, beat} <= 0;
            end
            // Reads
            if (runs && !arvalid && asked != count && state[ask_slot] == 0 && random[7]) arvalid <= 1;
            if (arvalid && m_arready) begin
                arvalid <= 0;
                state[ask_slot] <= 1;
                asked <= asked + 1;
            end
            if (m_rvalid && m_rready) begin
                data[{r_slot, arrived[r_slot]}] <= m_rdata;
                arrived[r_slot] <= m_rlast ? 8'd0 : arrived[r_slot] + 8'd1;
                if (m_rresp[1]) errors <= errors + 16'd1;
                if (m_rlast) state[r_slot] <= 2;
                if (m_rlast != (arrived[r_slot] == beats)) $error("RLAST is wrong");
                if (state[r_slot] != 1) $error("RVALID without a read");
            end
            // Writes
            if (!awvalid && sent != count && state[send_slot] == 2 && sent == filled && random[9]) awvalid <= 1;
            if (awvalid && m_awready) begin
                awvalid <= 0;
                sent    <= sent + 1;
            end
            if (!wvalid && filled != sent && random[11]) wvalid <= 1;
            if (wvalid && m_wready) begin
                wvalid <= 0;
                beat   <= beat + 8'd1;
                if (beat == beats) begin
                    beat   <= 0;
                    filled <= filled + 1;
                    state[fill_slot] <= 3;
                end
            end
            if (m_bvalid && m_bready) begin
                answered <= answered + 1;
                if (m_bresp[1]) errors <= errors + 16'd1;
                state[m_bid[1:0]] <= 0;
                if (state[m_bid[1:0]] != 3) $error("BVALID without a write");
                if (answered + 1 == count) begin
                    runs <= 0;
                    done <= 1;
                end
            end
        end

    // --- Registers
    wire writes = s_awvalid && s_wvalid && !s_bvalid;
    wire starts = writes && s_awaddr[4:2] == START;
    assign s_awready = writes;
    assign s_wready  = writes;
    assign s_bresp   = 0;
    assign s_arready = !s_rvalid;
    assign s_rresp   = 0;
    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            {source, target, count, shape} <= 0;
            {s_bvalid, s_rvalid} <= 0;
        end else begin
            if (writes) begin
                s_bvalid <= 1;
                case (s_awaddr[4:2])
                    SOURCE: source <= s_wdata;
                    TARGET: target <= s_wdata;
                    COUNT: count <= s_wdata;
                    SHAPE: shape <= s_wdata;
                    default: ;
                endcase
            end
            if (s_bvalid && s_bready) s_bvalid <= 0;
            if (s_arvalid && s_arready) begin
                s_rvalid <= 1;
                case (s_araddr[4:2])
                    SOURCE: s_rdata <= source;
                    TARGET: s_rdata <= target;
                    COUNT: s_rdata <= count;
                    SHAPE: s_rdata <= shape;
                    default: s_rdata <= {errors, 15'd0, done};
                endcase
            end
            if (s_rvalid && s_rready) s_rvalid <= 0;
        end
endmodule
